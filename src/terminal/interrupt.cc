// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/interrupt.h"

namespace tw::terminal {
namespace {

// What a signal handler may write to.
volatile std::sig_atomic_t came = 0;

void remember(int) { came = 1; }

}  // namespace

InterruptGuard::InterruptGuard() : before_{} {
  came = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  // The default returns with the first signal. Without SA_RESTART a read that waits for a pipe
  // ends.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &before_);
}

InterruptGuard::~InterruptGuard() { ::sigaction(SIGINT, &before_, nullptr); }

bool InterruptGuard::interrupted() const { return came != 0; }

}  // namespace tw::terminal
