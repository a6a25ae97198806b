// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/record.h"

#include <algorithm>
#include <span>
#include <utility>

namespace tw::watch {
namespace {

double share(Duration part, Duration whole) {
  return whole > Duration(0) ? std::clamp(seconds(part) / seconds(whole), 0.0, 1.0) : 0;
}

/// Of process number `process`, which may have been followed only from some sample on. Threads add
/// up, so it may be more than 1.
double wait_share(std::span<const LoadSample> samples, std::size_t process) {
  const auto first = std::find_if(samples.begin(), samples.end(), [&](const LoadSample& sample) {
    return sample.waits.size() > process;
  });
  if (first == samples.end()) return 0;
  const Duration time(samples.back().time_ns - first->time_ns);
  if (time <= Duration(0)) return 0;
  return seconds(samples.back().waits[process] - first->waits[process]) / seconds(time);
}

}  // namespace

std::optional<Load> load_between(const WatchRecord& record, std::int64_t from_ns,
                                 std::int64_t to_ns) {
  const auto& all = record.loads;
  const auto begin = std::partition_point(
      all.begin(), all.end(), [&](const LoadSample& sample) { return sample.time_ns < from_ns; });
  const auto end = std::partition_point(
      begin, all.end(), [&](const LoadSample& sample) { return sample.time_ns <= to_ns; });
  const std::span<const LoadSample> samples(begin, end);
  if (samples.size() < 2) return std::nullopt;
  const LoadSample& first = samples.front();
  const LoadSample& last = samples.back();
  const Duration total = last.machine.total - first.machine.total;
  Load load{.busy = share(last.machine.busy - first.machine.busy - (last.spun - first.spun), total),
            .steal = share(last.machine.steal - first.machine.steal, total)};
  for (std::size_t process = 0; process < last.waits.size(); ++process) {
    load.wait = std::max(load.wait, wait_share(samples, process));
  }
  return load;
}

std::vector<PortCounts> ports_over(const WatchRecord& record) {
  if (record.links.empty()) return {};
  std::vector<PortCounts> counts = record.links.back().ports;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const PortCounts& before = record.links.front().ports[i];
    counts[i].packets -= before.packets;
    counts[i].bytes -= before.bytes;
    counts[i].dropped -= before.dropped;
    counts[i].lost -= before.lost;
    counts[i].marked -= before.marked;
  }
  for (const LinkSample& sample : record.links) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i].queue_bytes = std::max(counts[i].queue_bytes, sample.ports[i].queue_bytes);
    }
  }
  return counts;
}

void halve(std::vector<LinkSample>& samples) {
  std::vector<LinkSample> kept;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // 0 stands alone, then 1 goes into 2, 3 into 4...; a last odd one stays.
    const bool is_merged = i % 2 == 1 && i + 1 < samples.size();
    if (!is_merged) {
      kept.push_back(std::move(samples[i]));
      continue;
    }
    for (std::size_t port = 0; port < samples[i].ports.size(); ++port) {
      std::uint64_t& into = samples[i + 1].ports[port].queue_bytes;
      into = std::max(into, samples[i].ports[port].queue_bytes);
    }
  }
  samples = std::move(kept);
}

}  // namespace tw::watch
