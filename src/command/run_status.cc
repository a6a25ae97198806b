// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/run_status.h"

#include "trainwire/base/units.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>

#include <chrono>

namespace tw::command {

RunStatus::RunStatus(Streams streams, bool quiet)
    : status_(streams.err, terminal::shown_on(streams.err, quiet)) {}

lab::Observer RunStatus::observer() {
  return {.tell = [this](const std::string& what) { status_.tell(what); },
          .progress = [this](const lab::RunProgress& progress) { show(progress); },
          .stop = [this] { return guard_.interrupted(); }};
}

void RunStatus::begin() {
  wipe();
  began_ns_ = 0;
  due_ns_ = 0;
}

/// "step 12 of 25, 3.2 steps/s, 4 s left, busiest link 0.94 Gbit/s".
void RunStatus::show(const lab::RunProgress& progress) {
  const std::int64_t now = os::monotonic_ns();
  if (now < due_ns_) return;
  due_ns_ = now + 200'000'000;
  if (began_ns_ == 0) began_ns_ = now;
  const double elapsed = 1e-9 * static_cast<double>(now - began_ns_);
  std::string line = fmt::format("step {} of {}", progress.steps_done, progress.steps);
  if (progress.steps_done > 0 && elapsed > 0) {
    const double pace = static_cast<double>(progress.steps_done) / elapsed;
    const double left = static_cast<double>(progress.steps - progress.steps_done) / pace;
    line += fmt::format(", {:.2f} steps/s, {} left", pace,
                        terminal::in_words(std::chrono::duration<double>(left)));
  }
  if (progress.busiest_bps > 0) {
    line += fmt::format(", busiest link {}", readable(BitRate(progress.busiest_bps)));
  }
  status_.tell(line);
}

}  // namespace tw::command
