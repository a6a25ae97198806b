// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/run_checks.h"

#include "trainwire/workload/volume.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

namespace tw::cli {
namespace {

using HostPairBytes = std::map<std::pair<std::string, std::string>, std::int64_t>;

bool all_told(const std::vector<lab::RankState>& ranks) {
  for (const lab::RankState& rank : ranks) {
    if (!rank.told_counts) return false;
  }
  return true;
}

/// What schedules move against what ranks say they sent, for every pair of ranks.
RunCheck schedule_check(const std::vector<lab::TrainingJob>& jobs,
                        const std::vector<lab::RankState>& ranks) {
  std::int64_t scheduled = 0;
  std::int64_t sent = 0;
  std::string first;
  std::vector<std::vector<std::vector<std::int64_t>>> expected;
  for (const lab::TrainingJob& job : jobs)
    expected.push_back(workload::bytes_by_rank(job.training()));
  for (const lab::RankState& rank : ranks) {
    for (std::size_t peer = 0; peer < rank.counts.sent.size(); ++peer) {
      const std::int64_t asked = expected[rank.job][rank.rank][peer];
      const std::int64_t did = rank.counts.sent[peer];
      scheduled += asked;
      sent += did;
      if (asked != did && first.empty()) {
        first = fmt::format("{} sent {} bytes to rank {}, its schedule says {}", rank.label, did,
                            peer, asked);
      }
    }
  }
  return {.name = "schedule",
          .ok = first.empty() && all_told(ranks),
          .expected = fmt::format("{} bytes scheduled", scheduled),
          .found = fmt::format("{} bytes sent by the ranks", sent),
          .text = !all_told(ranks) ? "not every rank told what it sent"
                  : first.empty()  ? "every rank sent each other rank what the schedule says"
                                   : first};
}

RunCheck sums_check(const std::vector<lab::RankState>& ranks) {
  std::int64_t checked = 0;
  std::int64_t wrong = 0;
  for (const lab::RankState& rank : ranks) {
    checked += rank.counts.checked;
    wrong += rank.counts.wrong;
  }
  return {.name = "sums",
          .ok = wrong == 0,
          .expected = "0 wrong",
          .found = fmt::format("{} of {} elements wrong", wrong, checked),
          .text = wrong != 0     ? fmt::format("{} of {} elements are wrong", wrong, checked)
                  : checked == 0 ? "not verified: the payload is large; verify = true does it"
                                 : fmt::format("{} elements right", grouped(checked))};
}

/// Payload and framing of all ranks, by the hosts that they are on.
HostPairBytes counted_by_hosts(const std::vector<lab::TrainingJob>& jobs,
                               const std::vector<lab::RankState>& ranks) {
  HostPairBytes bytes;
  for (const lab::RankState& rank : ranks) {
    const lab::TrainingJob& job = jobs[rank.job];
    const auto name = [&](std::size_t r) {
      return job.host_names[static_cast<std::size_t>(job.hosts[r])];
    };
    for (std::size_t peer = 0; peer < rank.counts.sent.size(); ++peer) {
      const std::int64_t all = rank.counts.sent[peer] + rank.counts.framing[peer];
      if (all > 0 && name(rank.rank) != name(peer)) bytes[{name(rank.rank), name(peer)}] += all;
    }
  }
  return bytes;
}

/// What the wire shows of the job: everything but known cross traffic.
HostPairBytes captured_by_hosts(const CaptureResult& result) {
  HostPairBytes bytes;
  const HostNames names(result.traffic, result.analysis);
  for (const HostPair& pair : host_pairs(result.traffic, names)) {
    bytes[{names.name(pair.from), names.name(pair.to)}] +=
        static_cast<std::int64_t>(pair.count.stream_bytes);
  }
  std::map<std::string, std::string> name_of;
  for (std::uint32_t i = 0; i < result.traffic.addresses.size(); ++i) {
    name_of[result.traffic.addresses[i].text()] = names.name_of(i);
  }
  for (const auto& [pair, cross] : result.cross_bytes) {
    bytes[{name_of[pair.first], name_of[pair.second]}] -= cross;
  }
  std::erase_if(bytes, [](const auto& pair) { return pair.second == 0; });
  return bytes;
}

RunCheck stream_check(const std::vector<lab::TrainingJob>& jobs,
                      const std::vector<lab::RankState>& ranks, const CaptureResult& result) {
  const HostPairBytes captured = captured_by_hosts(result);
  std::int64_t sum = 0;
  for (const auto& [pair, bytes] : captured) sum += bytes;
  const HostPairBytes counted = counted_by_hosts(jobs, ranks);
  std::int64_t counted_sum = 0;
  std::string first;
  for (const auto& [pair, bytes] : counted) {
    counted_sum += bytes;
    const auto at = captured.find(pair);
    const std::int64_t seen = at == captured.end() ? 0 : at->second;
    if (seen != bytes && first.empty()) {
      first = fmt::format("{} to {}: ranks sent {} bytes, the wire shows {}", pair.first,
                          pair.second, bytes, seen);
    }
  }
  return {.name = "stream",
          .ok = first.empty() && counted.size() == captured.size(),
          .expected = fmt::format("{} bytes sent by the ranks", counted_sum),
          .found = fmt::format("{} bytes of TCP streams captured", sum),
          .text = !first.empty() ? first
                  : counted.size() != captured.size()
                      ? "the wire shows pairs of hosts that no rank sent to"
                      : "the wire shows what the ranks sent, to the byte, for every pair"};
}

}  // namespace

std::vector<RunCheck> run_checks(const std::vector<lab::TrainingJob>& jobs,
                                 const std::vector<lab::RankState>& ranks,
                                 const CaptureResult& result) {
  std::vector<RunCheck> checks{schedule_check(jobs, ranks), sums_check(ranks)};
  if (result.traffic.totals.packets > 0) checks.push_back(stream_check(jobs, ranks, result));
  return checks;
}

}  // namespace tw::cli
