// SPDX-License-Identifier: Apache-2.0
// The account of one thread that plays flows, and the file with a line for each.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/load/completion_times.h"
#include "trainwire/load/time_histogram.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/traffic/outcome.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace tw::traffic {

/// One flow, as it went. Times are CLOCK_MONOTONIC nanoseconds.
struct PlayedFlow {
  std::uint64_t number = 0;
  std::int64_t due_ns = 0;
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns = {};  ///< nothing when it has not finished
  std::int64_t bytes = 0;
  std::int64_t acknowledged = 0;
};

/// "flow,start_ns,lateness_ns,bytes,end_ns,acknowledged_bytes", start and end by CLOCK_REALTIME as
/// in captures. For several threads.
class FlowLog {
 public:
  /// Creates the file. Throws SystemError.
  explicit FlowLog(const std::string& path);
  void add(const PlayedFlow& flow);
  /// Throws SystemError when something could not be written.
  void close();

 private:
  void write();

  std::string path_;
  os::FileDescriptor file_;
  std::int64_t real_minus_monotonic_ns_;
  std::mutex mutex_;
  std::string text_;
};

/// Written by one thread; the atomic ones are read by others meanwhile.
class Tally {
 public:
  void start(Duration lateness, std::int64_t bytes);
  void finish(std::int64_t bytes, Duration time);
  void censor(std::int64_t bytes);
  void late(Duration lateness) { lateness_.add(lateness); }

  std::atomic<std::int64_t> started = 0;
  std::atomic<std::int64_t> finished = 0;
  std::atomic<std::int64_t> sent = 0;  ///< payload bytes handed to the kernel
  std::int64_t framing = 0;            ///< bytes
  std::int64_t connections = 0;
  std::int64_t unfinished = 0;
  std::int64_t unstarted = 0;  ///< due, but there was no room
  std::int64_t offered = 0;    ///< bytes of flows that were due
  std::int64_t finished_bytes = 0;
  /// When the load's time was over: acknowledged bytes until then.
  std::optional<std::int64_t> acknowledged_in_time = {};
  std::int64_t acknowledged = 0;  ///< in the end
  std::optional<std::int64_t> datagrams_sent = {};
  std::optional<std::int64_t> datagrams_received = {};

  /// Adds this thread's account. Rates and quantiles are the caller's, after the last one.
  friend void add_up(const Tally& tally, Outcome& outcome, load::TimeHistogram& lateness,
                     load::CompletionTimes& times);

 private:
  load::TimeHistogram lateness_ = {};
  load::CompletionTimes times_ = {};
};

}  // namespace tw::traffic
