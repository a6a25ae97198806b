// SPDX-License-Identifier: Apache-2.0
// What a terminal shows while ranks work, and its Ctrl-C.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/lab/place.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/status.h"

#include <cstdint>

namespace tw::command {

class RunStatus {
 public:
  /// Shows nothing when `quiet`, and a line every 10 s where there is no terminal.
  RunStatus(Streams streams, bool quiet);

  /// REQUIRES: this outlives it.
  lab::Observer observer();
  /// Of another run: takes the line off, and the pace is counted anew.
  void begin();
  /// Takes the line off.
  void wipe() { status_.wipe(); }

 private:
  void show(const lab::RunProgress& progress);

  terminal::Status status_;
  terminal::InterruptGuard guard_;
  std::int64_t began_ns_ = 0;
  std::int64_t due_ns_ = 0;
};

}  // namespace tw::command
