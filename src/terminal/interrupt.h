// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, and what batch systems send instead, ends a reading and not the program, so that what was
// read is kept.

#pragma once

#include <array>
#include <csignal>

namespace tw::terminal {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP is only remembered; a second one of a kind
/// ends the program. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// True once one came.
  bool interrupted() const;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_;
};

}  // namespace tw::terminal
