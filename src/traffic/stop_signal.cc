// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/stop_signal.h"

#include "trainwire/os/errno_error.h"

#include <sys/eventfd.h>

#include <cerrno>

namespace tw::traffic {

StopSignal::StopSignal() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_.is_open()) throw os::errno_error("making a signal between threads", errno);
}

void StopSignal::raise() {
  raised_.store(true, std::memory_order_release);
  // Fails only when it is readable already.
  [[maybe_unused]] const int ignored = ::eventfd_write(event_.get(), 1);
}

void StopSignal::fail(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
  }
  raise();
}

std::optional<std::string> StopSignal::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace tw::traffic
