// SPDX-License-Identifier: Apache-2.0
// A process of a run, on this machine or on another.

#pragma once

#include "trainwire/os/child.h"

#include <chrono>
#include <memory>
#include <optional>

namespace tw::fleet {

class Process {
 public:
  Process() = default;
  virtual ~Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Its number is 0 for one on another machine, whose numbers mean nothing here.
  virtual const os::ProcessIdentity& identity() const = 0;
  /// How it ended, if it has.
  virtual std::optional<os::Ending> poll() = 0;
  /// Waits at most that long.
  virtual std::optional<os::Ending> wait_for(std::chrono::nanoseconds time) = 0;
  virtual void signal(int number) = 0;
  /// SIGTERM, then SIGKILL to what remains after `grace`.
  virtual os::Ending stop(std::chrono::nanoseconds grace) = 0;
};

/// One of this machine.
std::unique_ptr<Process> local_process(os::Child child);

}  // namespace tw::fleet
