// SPDX-License-Identifier: Apache-2.0
// The pieces that timeline_of() puts together, each from one or two tables of a run.

#pragma once

#include "trainwire/result/table_reader.h"
#include "trainwire/timeline/timeline.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tw::timeline {

/// The part of time that is wanted, in ns since 1970.
struct TimeWindow {
  std::int64_t from_ns = INT64_MIN;
  std::int64_t to_ns = INT64_MAX;
  bool touches(std::int64_t start_ns, std::int64_t end_ns) const {
    return end_ns >= from_ns && start_ns <= to_ns;
  }
};

/// What every piece needs to know.
struct TimelinePlan {
  const RunPart* run;
  TimeWindow window;
  std::int64_t origin_ns;  ///< the run's first event, from which notes count
  std::size_t events;      ///< the cap on all pieces together
};

/// Tracks by the name of their process.
using Tracks = std::map<std::string, std::vector<Track>>;

struct Pieces {
  Tracks jobs, capture, hosts;
  std::vector<std::string> notes;
};

/// How many events there may still be.
std::size_t events_left(const TimelinePlan& plan, const Pieces& pieces);

/// Calls `read` with the table; not at all when the run has none of that name.
void with_table(const RunPart& run, std::string_view name,
                const std::function<void(result::TableReader&)>& read);

/// Times up to here, the year 2116, can be added and subtracted without a thought.
inline constexpr std::int64_t kLastTime = INT64_MAX / 2;
/// A time of the present row; nothing when there is none, or none that can be.
std::optional<std::int64_t> time_in(const result::TableReader& table,
                                    std::optional<std::size_t> column);

/// Steps and their phases by rank (steps.csv).
void add_phases(const TimelinePlan& plan, Pieces& pieces);
/// Iterations and their exchanges, as the wire shows them (iterations.csv).
void add_iterations(const TimelinePlan& plan, Pieces& pieces);
/// Flows and their bursts by the host that sends (flows.csv, windows.csv).
void add_flows(const TimelinePlan& plan, Pieces& pieces);
/// Rates of hosts (windows.csv).
void add_rates(const TimelinePlan& plan, Pieces& pieces);
/// Round trips and congestion windows of ranks' connections (sockets.csv), queues of hosts
/// (samples.csv).
void add_samples(const TimelinePlan& plan, Pieces& pieces);

}  // namespace tw::timeline
