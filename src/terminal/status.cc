// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/status.h"

#include "trainwire/terminal/progress.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>

namespace tw::terminal {

Shown shown_on(const std::ostream& err, bool quiet) {
  if (quiet) return Shown::Nothing;
  return is_terminal(err) ? Shown::OneLine : Shown::Log;
}

void Status::tell(const std::string& what, Clock::time_point now) {
  if (shown_ == Shown::OneLine) fmt::print(err_, "\r\x1b[K{}", what);
  if (shown_ == Shown::Log) {
    if (now < due_) return;
    due_ = now + kPause;
    fmt::print(err_, "{}\n", what);
  }
  err_.flush();
}

void Status::wipe() {
  if (shown_ != Shown::OneLine) return;
  fmt::print(err_, "\r\x1b[K");
  err_.flush();
}

std::string in_words(std::chrono::duration<double> time) {
  const auto s = static_cast<long long>(std::llround(std::clamp(time.count(), 0.0, 1e12)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
  return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
}

}  // namespace tw::terminal
