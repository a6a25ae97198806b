// SPDX-License-Identifier: Apache-2.0
// How long small packets take to the other end of a path and back.
//
// The way there and the way back are timed apart, from the call that sends to the kernel's stamp of
// the arrival, and added: how late the answering thread was woken is no property of the path.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/measure/socket.h"

#include <cstddef>
#include <vector>

namespace tw::measure {

struct RoundTripOptions {
  int count = 100;
  Duration spacing = std::chrono::milliseconds(2);
  /// How long the last answers are waited for.
  Duration patience = std::chrono::milliseconds(500);
};

struct MeasuredRoundTrip {
  std::vector<Duration> samples = {};  ///< sorted; of the probes that came back
  Duration median = {};                ///< 0 when none came back, like those below
  Duration p99 = {};
  Duration median_there = {};
  Duration median_back = {};
  int sent = 0;
  int lost = 0;  ///< there or back
};

/// REQUIRES: count > 0, spacing > 0. Throws SystemError when the sockets cannot be made or nothing
/// gets through.
MeasuredRoundTrip measure_round_trip(const PathEnd& from, const PathEnd& to,
                                     const RoundTripOptions& options = {});

/// The smallest sample that at least the share `q` does not exceed; 0 of none.
/// REQUIRES: sorted, 0 < q <= 1.
Duration nearest_rank(const std::vector<Duration>& sorted, double q);

}  // namespace tw::measure
