// SPDX-License-Identifier: Apache-2.0
// Processor time of a process, summed over its threads as they come and go.

#pragma once

#include "trainwire/watch/proc.h"

#include <map>

namespace tw::watch {

/// Adds up what the threads of one process did from the first look on: what a thread did between
/// the last look and its end is missed.
class ThreadSum {
 public:
  /// `times` of all threads of the process, by number, as found now.
  void look(const std::map<int, ThreadTime>& times);
  const ThreadTime& sum() const { return sum_; }

 private:
  std::map<int, ThreadTime> last_;
  ThreadTime sum_ = {};
  bool has_looked_ = false;
};

/// Of all threads of a process, from /proc; empty when it is gone.
std::map<int, ThreadTime> thread_times(int pid);
/// Of one thread alone; empty when it is gone.
std::map<int, ThreadTime> thread_time(int thread);

}  // namespace tw::watch
