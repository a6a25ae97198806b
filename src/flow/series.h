// SPDX-License-Identifier: Apache-2.0
// Bytes over time, sparse and in bounded memory: what throughput plots and iteration finding start
// from.
//
// A Series holds (window, bytes) for windows that carried anything, in time order. All series of
// one analysis share a Clock: when the windows held by all of them pass its budget, the analysis
// doubles the window width and every series folds neighbours together, so memory is bounded by the
// budget and not by the capture.

#pragma once

#include "trainwire/flow/time_map.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tw::flow {

struct Window {
  std::uint32_t index;  ///< (time - origin) / width
  std::uint32_t bytes;  ///< saturates at 4 GiB, which a 1 ms window reaches at 34 Tbit/s
  bool operator==(const Window&) const = default;
};

/// Time zero and window width of all series of an analysis.
struct Clock {
  std::int64_t origin_ns = 0;
  std::int64_t width_ns = 1'000'000;

  /// Times before the origin are in window 0, those past the last index in the last window.
  std::uint32_t index_of(std::int64_t time_ns) const;
  std::int64_t begin_of(std::uint32_t index) const { return origin_ns + index * width_ns; }
  bool operator==(const Clock&) const = default;
};

class Series;
/// The most bytes that so many neighbouring windows ever hold, of several series together.
double most_in(std::span<const Series* const> series, std::uint32_t windows);

class Series {
 public:
  Series() = default;
  /// Windows in any order; those of one index are summed.
  explicit Series(std::vector<Window> windows);
  /// A late time is put into its own window when that is among the last 16, an older one into the
  /// oldest of these. Returns how many windows were added: 0 or 1.
  std::size_t add(std::uint32_t index, std::uint64_t bytes) {
    if (!windows_.empty() && windows_.back().index >= index) return add_late(index, bytes);
    windows_.push_back({.index = index, .bytes = saturated(bytes)});
    return 1;
  }
  /// add() of a window that is known to be the latest: touches nothing of those before.
  /// REQUIRES: every window in the series has a smaller index.
  void append(std::uint32_t index, std::uint64_t bytes) {
    windows_.push_back({.index = index, .bytes = saturated(bytes)});
  }
  std::size_t add(const Clock& clock, std::int64_t time_ns, std::uint64_t bytes) {
    return add(clock.index_of(time_ns), bytes);
  }
  /// Halves the resolution: windows 2k and 2k+1 become k.
  void fold();
  /// Adds `other`, which is on clock `from`, to this one on clock `to`, with its times mapped:
  /// windows are moved whole, by at most half a width. REQUIRES: equal widths.
  void merge(const Series& other, const Clock& from, const Clock& to, const TimeMap& map = {});
  /// Takes away what `part` holds of these windows. REQUIRES: the same clock.
  void subtract(const Series& part);
  /// Every window times `numerator` / `denominator`, rounded so that sums stay right.
  /// REQUIRES: numerator <= denominator, denominator > 0.
  void scale(std::uint64_t numerator, std::uint64_t denominator);
  const std::vector<Window>& windows() const { return windows_; }
  std::uint64_t bytes() const;

 private:
  static std::uint32_t saturated(std::uint64_t bytes) {
    constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
    return bytes < kMost ? static_cast<std::uint32_t>(bytes) : kMost;
  }
  std::size_t add_late(std::uint32_t index, std::uint64_t bytes);

  std::vector<Window> windows_;
};

}  // namespace tw::flow
