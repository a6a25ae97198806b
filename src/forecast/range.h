// SPDX-License-Identifier: Apache-2.0
// For what predictions were checked, and what they are refused for.
//
// Measured are runs on emulated networks of 2 to 16 hosts (to 32 ranks), 50 Mbit/s to 1 Gbit/s, 50 us to 20 ms a link, loss
// to 1 %. Formula and flow level agree for up to 100,000 ranks. In between intervals become wider with the logarithm of how far it
// is; beyond kRange there is no answer unless it is forced.

#pragma once

#include "trainwire/spec/experiment.h"

#include <string>

namespace tw::forecast {

struct Range {
  int measured_hosts = 16;
  double measured_most_bps = 1e9;
  double measured_least_bps = 50e6;
  int ranks = 100'000;
  double least_bps = 1e6;
  double most_bps = 1.6e12;
  double most_delay_s = 1;
  double most_loss = 0.1;
};
inline constexpr Range kRange;

/// A sentence about what is beyond kRange; empty: nothing is.
std::string beyond_range(const spec::Experiment& experiment);

/// "measured on 2 to 16 hosts of 50 Mbit/s to 1 Gbit/s; ..."
std::string range_text();

/// How much wider intervals are because nobody measured that; 0 within what was measured.
double extrapolation_of(const spec::Experiment& experiment);

}  // namespace tw::forecast
