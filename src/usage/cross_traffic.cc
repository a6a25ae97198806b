// SPDX-License-Identifier: Apache-2.0
#include "trainwire/usage/cross_traffic.h"

#include "trainwire/load/kinds.h"

#include <algorithm>
#include <utility>

namespace tw::usage {
namespace {

/// As frames on the link.
double achieved_bps(const load::Entry& entry, const std::optional<load::Outcome>& outcome) {
  return outcome ? outcome->achieved.bits_per_second() / entry.payload_share : 0;
}

record::TrafficOutcome outcome_of(const load::Entry& entry, const load::Outcome& outcome) {
  record::TrafficOutcome made{
      .offered_bps = outcome.offered.bits_per_second() / entry.payload_share,
      .acknowledged_bytes = outcome.acknowledged.count(),
      .elapsed_s = outcome.elapsed_s,
      .flows = {.finished = outcome.finished,
                .started = outcome.started,
                .unfinished = outcome.unfinished,
                .unstarted = outcome.unstarted},
      .lateness = {.p50_s = outcome.lateness_p50_s, .p99_s = outcome.lateness_p99_s}};
  for (const load::CompletionClass& one : outcome.completion) {
    made.completion.push_back({.censored = one.censored,
                               .from_bytes = one.from.count(),
                               .mean_s = one.mean_s,
                               .n = one.n,
                               .p50_s = one.p50_s,
                               .p99_s = one.p99_s,
                               .to_bytes = one.to ? std::optional(one.to->count()) : std::nullopt});
  }
  if (outcome.datagrams_sent) {
    const std::int64_t received = outcome.datagrams_received.value_or(0);
    made.datagrams = record::Datagrams{.lost = *outcome.datagrams_sent - received,
                                       .received = received,
                                       .sent = *outcome.datagrams_sent};
  }
  return made;
}

}  // namespace

record::TrafficEntry described(const load::Entry& entry,
                               const std::optional<load::Outcome>& outcome) {
  record::TrafficEntry made{.name = entry.name,
                            .kind = std::string(load::name_of(entry.kind)),
                            .capacity_bps = entry.capacity.bits_per_second(),
                            .requested_bps = entry.requested.bits_per_second(),
                            .achieved_bps = achieved_bps(entry, outcome),
                            .complete = outcome.has_value() || entry.is_silent()};
  if (outcome) made.outcome = outcome_of(entry, *outcome);
  return made;
}

record::CrossTraffic described(std::vector<record::TrafficEntry> entries,
                               std::vector<record::GradientPair> gradients) {
  record::CrossTraffic made{.capacity_bps = entries.front().capacity_bps,
                            .entries = std::move(entries),
                            .gradient_pairs = std::move(gradients)};
  for (const record::TrafficEntry& entry : made.entries) {
    made.requested_bps += entry.requested_bps;
    made.achieved_bps += entry.achieved_bps;
    made.capacity_bps = std::min(made.capacity_bps, entry.capacity_bps);
  }
  return made;
}

}  // namespace tw::usage
