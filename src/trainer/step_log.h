// SPDX-License-Identifier: Apache-2.0
// What a rank did when, a line of record/phase.h for each phase. Lines reach the file at the end of
// every step, so that a rank that is killed leaves what it had done.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/workload/script.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace tw::trainer {

struct Phase {
  std::int64_t step = 0;
  std::string_view name;      ///< of a record::Phase
  int bucket = -1;            ///< -1: not of one bucket
  std::int64_t begin_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t end_ns = 0;
  std::int64_t bytes = 0;   ///< of payload
  std::int64_t queued = 0;  ///< that the kernel still had to send at its end
};

class StepLog {
 public:
  /// Throws SystemError.
  explicit StepLog(const std::string& path);
  /// From any thread.
  void add(const Phase& phase);
  /// A part of a step's script, whose name is the script's; one that takes no time by the training's
  /// own terms is not told.
  void add(workload::Phase part, const workload::Training& training, Phase phase);
  /// Throws SystemError when the disk is full.
  void flush();

 private:
  std::string path_;
  os::FileDescriptor file_;
  std::int64_t to_real_time_;  ///< what makes a monotonic time a real one
  std::mutex mutex_;
  std::string pending_;
};

}  // namespace tw::trainer
