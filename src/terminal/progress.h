// SPDX-License-Identifier: Apache-2.0
// How far reading has come, on one line of a terminal that is wiped at the end.

#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace tw::terminal {

/// "reading  412 MB of 2400 MB  ████░░░░  17 %  780 MB/s  3 s left"; what is not known (all = 0) is
/// left out.
std::string progress_line(std::int64_t done, std::int64_t all, double elapsed_s);

/// True when `err` is the process's own standard error and that is a terminal.
bool is_terminal(const std::ostream& err);

class Progress {
 public:
  /// Draws nothing unless `shown`.
  Progress(std::ostream& err, bool shown);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Redraws at most ten times a second.
  void update(std::int64_t done, std::int64_t all);

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& err_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point due_ = started_ + std::chrono::milliseconds(300);
};

}  // namespace tw::terminal
