// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/progress.h"

#include "trainwire/base/units.h"
#include "trainwire/terminal/status.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace tw::terminal {
namespace {

constexpr int kBarWidth = 20;
constexpr std::string_view kWipe = "\r\x1b[K";

std::string bar(double share) {
  std::string text;
  const int filled = static_cast<int>(share * kBarWidth);
  for (int i = 0; i < kBarWidth; ++i) text += i < filled ? "█" : "░";
  return text;
}

}  // namespace

std::string progress_line(std::int64_t done, std::int64_t all, double elapsed_s) {
  const double rate = elapsed_s > 0 ? static_cast<double>(done) / elapsed_s : 0;
  const std::string speed =
      rate >= 1 ? fmt::format("  {}/s", readable(Bytes(static_cast<std::int64_t>(rate)))) : "";
  if (all <= 0) return fmt::format("reading  {}{}", readable(Bytes(done)), speed);
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(all), 0.0, 1.0);
  const double left_s = rate >= 1 ? static_cast<double>(all - done) / rate : -1;
  const std::string left =
      left_s >= 0 && left_s < 1e8
          ? fmt::format("  {} left", in_words(std::chrono::duration<double>(left_s)))
          : "";
  return fmt::format("reading  {} of {}  {} {:3.0f} %{}{}", readable(Bytes(done)),
                     readable(Bytes(all)), bar(share), 100 * share, speed, left);
}

bool is_terminal(const std::ostream& err) { return &err == &std::cerr && ::isatty(STDERR_FILENO); }

Progress::Progress(std::ostream& err, bool shown) : err_(err), shown_(shown) {}

Progress::~Progress() {
  if (drawn_) err_ << kWipe << std::flush;
}

void Progress::update(std::int64_t done, std::int64_t all) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (now < due_) return;
  due_ = now + std::chrono::milliseconds(100);
  drawn_ = true;
  const double elapsed_s = std::chrono::duration<double>(now - started_).count();
  err_ << kWipe << progress_line(done, all, elapsed_s) << std::flush;
}

}  // namespace tw::terminal
