// SPDX-License-Identifier: Apache-2.0
// Looks at links and machine while something runs on them, in a thread of its own: link and queue
// counters every 10 ms, processor time ten times a second.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/watch/record.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace tw::watch {

struct WatchOptions {
  Duration interval = std::chrono::milliseconds(10);
  /// Threads, by number, that only keep the processors awake: their time is not busy time.
  std::vector<int> spinners = {};
  /// Ports times samples that are kept, 48 bytes each. When there are more, every second sample is
  /// given up and the interval doubles.
  std::size_t most_counters = std::size_t{1} << 21;
};

class Watch {
 public:
  /// Looks for the first time. Throws SystemError when the source does or /proc cannot be read.
  explicit Watch(PortSource source, const WatchOptions& options = {});
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  /// Also watches how long the threads of this process wait for a processor, from now on.
  void follow(int pid);
  /// Looks for the last time. Once. Throws SystemError when the kernel stopped answering on the
  /// way.
  WatchRecord stop();

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace tw::watch
