// SPDX-License-Identifier: Apache-2.0
// The cross traffic of an experiment in virtual time: its sources, and what came of them.
//
// Traffic begins when it says after the begin of all, and ends after its duration or with the jobs.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/sim/traffic_source.h"
#include "trainwire/spec/experiment.h"

#include <deque>
#include <optional>
#include <vector>

namespace tw::sim {

/// Tags of cross traffic have this bit; others must not.
inline constexpr medium::Tag kCrossTag = medium::Tag{1} << 63;

/// What became of one entry.
struct PlayedTraffic {
  load::Entry entry = {};
  std::optional<load::Outcome> outcome = {};  ///< nothing when silent
  std::vector<CrossFlow> flows = {};          ///< in the order of their ends
};

class CrossTraffic {
 public:
  /// Throws SpecError, DataError, SystemError as load::entries does. REQUIRES: the medium outlives
  /// it.
  CrossTraffic(const spec::Experiment& experiment, medium::Medium& medium);

  bool empty() const { return sources_.empty(); }
  /// When it has to be told the time next; nothing: not by itself.
  std::optional<Duration> next() const;
  void advance(Duration now);
  void left(medium::Tag tag, Duration now) { source(tag).left(tag, now); }
  void came(medium::Tag tag, Duration now) { source(tag).came(tag, now); }
  /// Ends what has not ended, and tells what became of all.
  std::vector<PlayedTraffic> end(Duration now);

 private:
  TrafficSource& source(medium::Tag tag);

  std::deque<TrafficSource> sources_;
};

/// Rate of the narrowest link on the way.
BitRate narrowest(const network::Network& network, int from, int to);

}  // namespace tw::sim
