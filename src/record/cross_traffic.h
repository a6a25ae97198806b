// SPDX-License-Identifier: Apache-2.0
// Cross traffic beside a run: asked for, offered, delivered. Rates are as frames on the link.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::record {

struct FlowOutcomes {
  std::int64_t finished = 0;
  std::int64_t started = 0;
  std::int64_t unfinished = 0;
  std::int64_t unstarted = 0;
  bool operator==(const FlowOutcomes&) const = default;
};

struct Lateness {
  double p50_s = 0;
  double p99_s = 0;
  bool operator==(const Lateness&) const = default;
};

/// Completion times of the flows larger than `from_bytes` and not larger than `to_bytes`.
struct Completion {
  std::int64_t censored = 0;
  std::int64_t from_bytes = 0;
  double mean_s = 0;
  std::int64_t n = 0;
  double p50_s = 0;
  double p99_s = 0;
  std::optional<std::int64_t> to_bytes = {};
  bool operator==(const Completion&) const = default;
};

struct Datagrams {
  std::int64_t lost = 0;
  std::int64_t received = 0;
  std::int64_t sent = 0;
  bool operator==(const Datagrams&) const = default;
};

/// What the source told at its end.
struct TrafficOutcome {
  double offered_bps = 0;
  std::int64_t acknowledged_bytes = 0;
  double elapsed_s = 0;
  FlowOutcomes flows = {};
  Lateness lateness = {};
  std::vector<Completion> completion = {};
  std::optional<Datagrams> datagrams = {};
  bool operator==(const TrafficOutcome&) const = default;
};

/// One [[traffic]].
struct TrafficEntry {
  std::string name = {};
  std::string kind = {};
  double capacity_bps = 0;  ///< of the narrowest link on its way
  double requested_bps = 0;
  double achieved_bps = 0;
  bool complete = false;
  std::optional<TrafficOutcome> outcome = {};  ///< nothing when silent or cut off
  bool operator==(const TrafficEntry&) const = default;
};

/// How fast gradients went from one host to another while they did.
struct GradientPair {
  std::string from = {};
  std::string to = {};
  double sending_rate_bps = 0;
  bool shares_a_link = false;  ///< with cross traffic, in the same direction
  bool operator==(const GradientPair&) const = default;
};

struct CrossTraffic {
  double capacity_bps = 0;
  double requested_bps = 0;
  double achieved_bps = 0;
  std::vector<TrafficEntry> entries = {};
  std::vector<GradientPair> gradient_pairs = {};
  bool operator==(const CrossTraffic&) const = default;
};

}  // namespace tw::record
