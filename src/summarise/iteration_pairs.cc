// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/iteration_pairs.h"

#include "trainwire/flow/bursts.h"
#include "trainwire/summarise/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tw::summarise {
namespace {

struct PairBytes {
  std::uint64_t bytes = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};
/// By iteration, sending and receiving host.
using IterationPairs = std::map<std::array<std::size_t, 3>, PairBytes>;

/// The iteration in which `time_ns` lies; nothing outside of all.
std::optional<std::size_t> iteration_at(std::span<const diagnose::Iteration> steps,
                                        std::int64_t time_ns) {
  const auto after = std::upper_bound(
      steps.begin(), steps.end(), time_ns,
      [](std::int64_t time, const diagnose::Iteration& step) { return time < step.start_ns; });
  if (after == steps.begin() || time_ns >= std::prev(after)->end_ns) return {};
  return static_cast<std::size_t>(after - steps.begin()) - 1;
}

/// What all flows between two hosts sent, in time order; cross traffic and jobs but the first apart.
using PairBursts = std::map<std::array<std::size_t, 2>, std::vector<flow::Burst>>;
PairBursts pair_bursts(const CaptureResult& result, const HostNames& names) {
  PairBursts all;
  for (const flow::Flow& flow : result.traffic.flows) {
    if (flow.cross || flow.job > 0) continue;
    std::vector<flow::Burst>& bursts =
        all[{names.host_of(flow.key.source), names.host_of(flow.key.destination)}];
    bursts.insert(bursts.end(), flow.bursts.begin(), flow.bursts.end());
  }
  for (auto& [pair, bursts] : all) flow::sort_by_start(bursts);
  return all;
}

/// Cuts what a pair sent into steps of `each` bytes, the last of which ends with its last byte:
/// start-up comes before them, and the tail of a step may well lie in the time of the next.
class StreamCut {
 public:
  StreamCut(const ScheduledSteps& scheduled, std::int64_t each, std::int64_t all)
      : each_(each), first_(all - scheduled.steps * each), steps_(scheduled.steps) {}
  bool is_possible() const { return first_ >= 0; }

  template <typename Take>
  void take(const flow::Burst& burst, Take part) {
    const std::int64_t begin = position_;
    position_ += static_cast<std::int64_t>(burst.bytes);
    const auto time_at = [&](std::int64_t byte) {
      const double share = static_cast<double>(byte - begin) / static_cast<double>(burst.bytes);
      return burst.start_ns +
             std::llround(share * static_cast<double>(burst.end_ns - burst.start_ns));
    };
    std::int64_t from = std::max(begin, first_);
    while (from < position_) {
      const std::int64_t step = (from - first_) / each_;
      if (step >= steps_) return;
      const std::int64_t to = std::min(position_, first_ + (step + 1) * each_);
      part(static_cast<std::size_t>(step), static_cast<std::uint64_t>(to - from), time_at(from),
           time_at(to));
      from = to;
    }
  }

 private:
  std::int64_t each_;
  std::int64_t first_;  ///< byte of the first iteration
  std::int64_t steps_;
  std::int64_t position_ = 0;
};

void add(PairBytes& sum, std::uint64_t bytes, std::int64_t first_ns, std::int64_t last_ns) {
  sum.first_ns = sum.bytes == 0 ? first_ns : std::min(sum.first_ns, first_ns);
  sum.last_ns = std::max(sum.last_ns, last_ns);
  sum.bytes += bytes;
}

/// By the schedule; nothing where the capture has less than it asks for.
std::optional<IterationPairs> scheduled_pairs(const CaptureResult& result, const HostNames& names) {
  if (!result.scheduled) return {};
  IterationPairs pairs;
  for (const auto& entry : pair_bursts(result, names)) {
    const auto& hosts = entry.first;
    const std::vector<flow::Burst>& bursts = entry.second;
    const auto each = result.scheduled->bytes.find({names.name(hosts[0]), names.name(hosts[1])});
    if (each == result.scheduled->bytes.end() || each->second == 0) continue;
    std::int64_t all = 0;
    for (const flow::Burst& burst : bursts) all += static_cast<std::int64_t>(burst.bytes);
    StreamCut cut(*result.scheduled, each->second, all);
    if (!cut.is_possible()) return {};
    for (const flow::Burst& burst : bursts) {
      cut.take(burst, [&](std::size_t step, std::uint64_t bytes, std::int64_t first_ns,
                          std::int64_t last_ns) {
        if (pairs.size() >= kMostIterationPairs) return;
        add(pairs[{step, hosts[0], hosts[1]}], bytes, first_ns, last_ns);
      });
    }
  }
  return pairs;
}

IterationPairs iteration_pairs(const CaptureResult& result, const HostNames& names) {
  if (auto pairs = scheduled_pairs(result, names)) return *std::move(pairs);
  IterationPairs pairs;
  for (std::size_t i = 0; i < result.traffic.flows.size(); ++i) {
    if (result.analysis.classes[i] != diagnose::FlowClass::Gradient) continue;
    const flow::Flow& flow = result.traffic.flows[i];
    for (const flow::Burst& burst : flow.bursts) {
      const auto iteration = iteration_at(result.analysis.iterations.steps, burst.start_ns);
      if (!iteration || pairs.size() >= kMostIterationPairs) continue;
      PairBytes& sum =
          pairs[{*iteration, names.host_of(flow.key.source), names.host_of(flow.key.destination)}];
      add(sum, burst.bytes, burst.start_ns, burst.end_ns);
    }
  }
  return pairs;
}

}  // namespace

void write_iteration_pairs(const CaptureResult& result, const HostNames& names,
                           result::TableFile& table) {
  for (const auto& [key, sum] : iteration_pairs(result, names)) {
    table.row(
        {key[0], names.name(key[1]), names.name(key[2]), sum.bytes, sum.first_ns, sum.last_ns});
  }
}

}  // namespace tw::summarise
