// SPDX-License-Identifier: Apache-2.0
// A run as tracks over time, for viewers of traces: what every rank and flow did, and how rates,
// round trips and windows went.
//
//   job0                 a process
//     rank 0             a track: step 3 > forward, backward, exchange, ...
//     rank 0 to 1: rtt   a counter
//   host0
//     10.77.0.1:4 > ...  a flow: its life > its bursts
//     sends              a counter
//
// Slices of one track nest: what overlaps without nesting is moved to a further track of the same
// rank. Times are nanoseconds since 1970.
//
// Limits: viewers do not open traces of any size, so there is a cap on events. Phases beyond their
// half of it are cut off at a time; of flows the largest are kept; counters share what is left,
// keep their whole span, and are averaged over longer stretches or thinned instead. What was left
// off is told by `notes`.

#pragma once

#include "trainwire/timeline/source.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::timeline {

struct TimelineOptions {
  std::size_t events = 400'000;  ///< at most about that many slices and values
  /// Seconds since the run's first event; nothing for its beginning or end.
  std::optional<double> from_s = {};
  std::optional<double> to_s = {};
};

struct Argument {
  std::string name;
  std::int64_t value;
};

struct Slice {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::string name;
  std::vector<Argument> arguments = {};
};

struct Value {
  std::int64_t time_ns;
  double value;
};

/// Either slices or the values of a counter.
struct Track {
  std::string name;
  std::string unit = {};  ///< of a counter
  std::vector<Slice> slices = {};
  std::vector<Value> values = {};
};

struct Process {
  std::string name;
  std::vector<Track> tracks = {};
};

struct Timeline {
  std::vector<Process> processes = {};
  std::vector<std::string> notes = {};
  std::int64_t start_ns = 0;  ///< of the first event that is kept
  std::size_t events() const;
};

/// Of one run, from the tables that it has. Rows whose times make no sense are passed over.
Timeline timeline_of(const RunPart& run, const TimelineOptions& options);

}  // namespace tw::timeline
