// SPDX-License-Identifier: Apache-2.0
// How far a counted share may lie from the true one: the exact interval of a binomial proportion.
//
// Limits: events are independent. Losses that come in bursts spread wider than this says.

#pragma once

#include <cstdint>

namespace tw::measure {

struct ShareInterval {
  double low;
  double high;
  bool operator==(const ShareInterval&) const = default;
};

/// The interval that covers the true share with at least `confidence` when `events` of `trials`
/// were counted (Clopper & Pearson 1934, 10.1093/biomet/26.4.404). REQUIRES: events <= trials,
/// trials > 0, 0 < confidence < 1.
ShareInterval binomial_interval(std::uint64_t events, std::uint64_t trials,
                                double confidence = 0.99);

/// Borders included.
bool contains(const ShareInterval& interval, double share);

}  // namespace tw::measure
