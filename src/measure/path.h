// SPDX-License-Identifier: Apache-2.0
// Everything that is measured of one direction between two hosts before anything else is measured
// on it: round trip, loss and rate, one after another so that they do not disturb each other.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/measure/loss.h"
#include "trainwire/measure/rate.h"
#include "trainwire/measure/round_trip.h"

namespace tw::measure {

/// What the path was built to do; decides how long it is measured.
struct PathExpectation {
  BitRate rate;  ///< of its slowest port
  Duration round_trip = {};
  double loss = 0;   ///< of one direction
  Bytes burst = {};  ///< token bucket of the slowest port
  Sends sends = Sends::SuperFrames;
};

struct PathMeasurement {
  MeasuredRoundTrip round_trip;
  MeasuredLoss loss;
  MeasuredRate rate;
};

/// How the loss of a path is measured: at most a fifth of the line's rate, 20,000 packets (2,000
/// where no loss is expected) but not longer than 5 s.
LossOptions loss_options(const PathExpectation& expected);

/// Takes about a second at 1 Gbit/s, up to 8 s on slow lines. Throws SystemError when the sockets
/// cannot be made or nothing gets through.
PathMeasurement measure_path(const PathEnd& from, const PathEnd& to,
                             const PathExpectation& expected);

}  // namespace tw::measure
