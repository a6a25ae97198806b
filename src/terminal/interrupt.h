// SPDX-License-Identifier: Apache-2.0
// Ctrl-C that ends a reading instead of the program, so that what was read is kept.

#pragma once

#include <csignal>

namespace tw::terminal {

/// While one lives, the first SIGINT is only remembered; a second one ends the program. One at a
/// time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// True once SIGINT came.
  bool interrupted() const;

 private:
  struct sigaction before_;
};

}  // namespace tw::terminal
