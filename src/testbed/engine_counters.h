// SPDX-License-Identifier: Apache-2.0
// What a user-space engine counts while it works, in memory shared between its process and the one
// that started it: readable at any moment, and after the engine was stopped or killed.

#pragma once

#include "trainwire/fabric/port_counters.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tw::testbed {

/// How long after their due time packets were released: bucket i counts those later than
/// kLatenessBase * 2^(i-1) and at most kLatenessBase * 2^i nanoseconds.
struct Lateness {
  static constexpr std::int64_t kLatenessBase = 1000;
  std::array<std::atomic<std::uint64_t>, 24> buckets = {};

  void add(std::int64_t late_ns);
  /// Upper bound of the bucket in which the quantile lies; 0 when nothing was released.
  std::int64_t quantile_ns(double q) const;
};

/// The shared memory of one engine; move-only.
class EngineCounters {
 public:
  /// Throws SystemError.
  explicit EngineCounters(std::size_t ports);
  EngineCounters(EngineCounters&& other) noexcept;
  EngineCounters& operator=(EngineCounters&& other) noexcept;
  ~EngineCounters();

  std::span<fabric::PortCounters> ports() const { return {ports_, count_}; }
  Lateness& lateness() const { return common_->lateness; }
  /// How much before it is due the engine releases a packet: what its way to and from the engine
  /// takes. Set by whoever has measured that (calibrate.h).
  std::atomic<std::int64_t>& early_ns() const { return common_->early_ns; }

 private:
  struct Common {
    Lateness lateness;
    std::atomic<std::int64_t> early_ns{0};
  };
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  Common* common_ = nullptr;
  fabric::PortCounters* ports_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace tw::testbed
