// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/interrupt.h"

#include <atomic>

namespace tw::terminal {
namespace {

// What a signal handler may write to, and any thread may read.
std::atomic<bool> came = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void remember(int) { came = true; }

}  // namespace

InterruptGuard::InterruptGuard() : before_{} {
  came = false;
  struct sigaction action {};
  action.sa_handler = remember;
  // The default returns with the first signal. Without SA_RESTART a read that waits for a pipe
  // ends.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

bool InterruptGuard::interrupted() const { return came; }

}  // namespace tw::terminal
