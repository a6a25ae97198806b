// SPDX-License-Identifier: Apache-2.0
// The congestion point: the cross-traffic load from which a job no longer finds the bandwidth it
// needs (Salamy 2022, appendix A.2, made algorithmic).
//
// The source draws a line along the flat part, a tangent to the rise close to it, and intersects
// the two by eye. Here both are fitted at once, as one line with a bend:
//
//   time                    o       t = level + slope (r - 1) + bend max(0, r - r0)
//    |                 o  ´         over r = C / (C - x), in which a job that lives on what is
//    |             o ´              left, C - x, is straight: t = D / (C - x)
//    | o  o  o  o´
//    +-----------|-----------> r    the load at r0 is the congestion point
//
// The bend's place is found exactly: between each two loads the best one is where the lines through
// the points on either side meet, or a load itself (Hudson 1966, 10.2307/2282752). The first line
// is level unless the points contradict. Noise is relative: weights are 1/t^2. The rise beyond the
// point may bend further up, so only its beginning counts: points up to where time has doubled, and
// at least three that rose by a quarter.
//
// The interval holds every place whose residuals an F test does not tell from the best one's. A
// point is reported only when one straight line does worse, by an F test at 1 %: a job that slows
// down from the first load on has none.
//
// Units: of the caller. Pure.

#pragma once

#include "trainwire/stats/estimate.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tw::stats {

struct CongestionOptions {
  double capacity;
  double confidence = 0.95;
};

struct CongestionPoint {
  Estimate load;
  Estimate time;       ///< of a step at that load
  Estimate volume;     ///< (C - load) * time: what a step could move there, in units of load * time
  std::size_t points;  ///< that the two lines rest on
  double window_to;    ///< largest load among them
};

enum class NoPoint {
  None,      ///< there is one
  TooFew,    ///< fewer than 5 different loads in the window
  Flat,      ///< times do not rise: the load stayed below it
  Straight,  ///< times rise from the first load on, in one line
};
std::string_view sentence(NoPoint reason);

struct CongestionSearch {
  std::optional<CongestionPoint> point = {};
  NoPoint reason = NoPoint::None;
};

/// REQUIRES: as many loads as times, all finite, loads below the capacity, times positive.
CongestionSearch find_congestion(std::span<const double> loads, std::span<const double> times,
                                 const CongestionOptions& options);

}  // namespace tw::stats
