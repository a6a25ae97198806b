// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/envelope.h"

#include <algorithm>

namespace tw::flow {

void Envelope::mark(std::int64_t time_ns, std::uint64_t bytes, std::size_t amounts) {
  amounts = std::min(amounts, kAmounts);
  for (std::size_t i = 0; i < amounts; ++i) {
    if (i == stretches_.size()) stretches_.push_back({.since_ns = time_ns, .since_bytes = bytes});
    Stretch& stretch = stretches_[i];
    if (time_ns > stretch.since_ns) {
      const auto passed = static_cast<double>(bytes - stretch.since_bytes);
      stretch.best_bps = std::max(stretch.best_bps,
                                  8e9 * passed / static_cast<double>(time_ns - stretch.since_ns));
    }
    stretch.since_ns = time_ns;
    stretch.since_bytes = bytes;
  }
}

Envelope Envelope::known(const std::vector<double>& rates_bps) {
  Envelope made;
  for (const double rate : rates_bps) made.stretches_.push_back({.best_bps = rate});
  return made;
}

std::vector<double> Envelope::rates_bps() const {
  std::vector<double> rates;
  for (const Stretch& stretch : stretches_) rates.push_back(stretch.best_bps);
  return rates;
}

}  // namespace tw::flow
