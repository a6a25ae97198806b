// SPDX-License-Identifier: Apache-2.0
// What a port counts, and what it is told, shared with another process while it works.

#pragma once

#include <atomic>
#include <cstdint>

namespace tw::fabric {

/// What a port is to do from now on, set by another process while it works.
struct PortOrders {
  std::atomic<double> loss{0};      ///< besides the plan's; 1: nothing gets through
  std::atomic<double> rate_bps{0};  ///< instead of the plan's; 0: the plan's
};

/// Of one port, since the start. A port that the kernel shapes counts only what the engine sees.
struct PortCounters {
  std::atomic<std::uint64_t> packets{0};        ///< MTU-sized packets offered
  std::atomic<std::uint64_t> bytes{0};          ///< frame bytes offered
  std::atomic<std::uint64_t> lost{0};           ///< packets lost as the plan asks
  std::atomic<std::uint64_t> dropped{0};        ///< packets that found the queue full
  std::atomic<std::uint64_t> dropped_bytes{0};  ///< frame bytes that never reached the line
  std::atomic<std::uint64_t> marked{0};         ///< packets marked by ECN
  /// The most frame bytes that a packet has found waiting, since a reader last set it to 0.
  std::atomic<std::uint64_t> deepest{0};
  PortOrders orders = {};
};

}  // namespace tw::fabric
