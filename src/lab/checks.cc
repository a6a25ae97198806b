// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/checks.h"

#include "trainwire/base/units.h"
#include "trainwire/carrier/streams.h"
#include "trainwire/os/clock.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

namespace tw::lab {
namespace {

using record::Check;
using summarise::CaptureResult;
using summarise::HostNames;
using summarise::HostPair;

constexpr std::int64_t kClockStepNs = 1'000'000;
/// Headers of 1,448-byte segments that a capture of super-frames lacks, and some room.
constexpr double kOffload = 0.08;
/// Share of a group's packets: beyond it, what was saved goes into repair.
constexpr double kCostlyRepair = 0.1;

Check ranks_check(const ConductOutcome& outcome) {
  const auto good = std::count_if(outcome.ranks.begin(), outcome.ranks.end(),
                                  [](const auto& rank) { return rank.ending.succeeded(); });
  const auto lost = std::count_if(outcome.ranks.begin(), outcome.ranks.end(),
                                  [](const auto& rank) { return rank.excused; });
  return {.name = "ranks",
          .ok = !outcome.failure && !outcome.interrupted,
          .expected =
              fmt::format("{} ended well", static_cast<std::int64_t>(outcome.ranks.size()) - lost),
          .found = fmt::format("{}", good),
          .text = outcome.failure.value_or(
              outcome.interrupted ? "interrupted"
              : lost > 0          ? fmt::format("{} lost on the way, all others ended well", lost)
                                  : "all ended well")};
}

Check network_check(const ConductOutcome& outcome, const ConductRequest& request) {
  Check check{
      .name = "network",
      .ok = true,
      .expected = "rate within 3 %, round trip within 5 % or 50 us, loss within its interval",
      .found = fmt::format("{} paths measured", outcome.network.size()),
      .text = "every measured path gives what was asked for"};
  if (outcome.network.empty()) check.text = "one host: nothing to measure";
  testbed::Fitness worst = testbed::Fitness::Good;
  for (const testbed::PathCheck& path : outcome.network) {
    if (path.fitness <= worst) continue;
    worst = path.fitness;
    check.text = fmt::format(
        "{} > {}: {}", request.plan.hosts[static_cast<std::size_t>(path.path.from)].name,
        request.plan.hosts[static_cast<std::size_t>(path.path.to)].name, path.problems.front());
  }
  check.ok = worst != testbed::Fitness::Refused;
  if (worst == testbed::Fitness::Warned) check.caution = true;
  return check;
}

Check drops_check(const ConductOutcome& outcome) {
  std::uint64_t dropped = 0;
  std::string failure;
  for (const capture::LiveResult& capture : outcome.captures) {
    dropped += capture.dropped;
    if (capture.failure) failure = *capture.failure;
  }
  return {.name = "capture",
          .ok = dropped == 0 && failure.empty(),
          .expected = "0 dropped",
          .found = fmt::format("{} dropped", dropped),
          .text = !failure.empty() ? failure
                  : dropped == 0   ? "no packet was missed"
                                   : "the captures miss packets: bytes and times are too low"};
}

/// The same on machines, where others speak while counters are read.
Check bracketed_check(const ConductOutcome& outcome) {
  std::uint64_t captured = 0;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  bool fits = true;
  for (std::size_t i = 0; i < outcome.captures.size(); ++i) {
    const watch::LinkCounters& low = outcome.least_counters[i];
    const watch::LinkCounters& high = outcome.counters[i];
    const std::uint64_t bytes = outcome.captures[i].bytes;
    captured += bytes;
    least += low.sent_bytes + low.received_bytes;
    most += high.sent_bytes + high.received_bytes;
    fits = fits && bytes >= low.sent_bytes + low.received_bytes &&
           bytes <= high.sent_bytes + high.received_bytes;
  }
  const double off =
      static_cast<double>(captured) / static_cast<double>(std::max(most, least + 1)) - 1;
  const bool offloaded = !fits && std::abs(off) < kOffload;
  Check check{
      .name = "bytes",
      .ok = fits || offloaded,
      .expected = least == most ? fmt::format("{} counted by the devices", most)
                                : fmt::format("{} to {} counted by the devices", least, most),
      .found = fmt::format("{} captured", captured),
      .text = fits ? "captures and device counters agree to the byte on every host"
                   : fmt::format("captures and device counters differ by {:.1f} %", 100 * off)};
  if (offloaded) {
    check.caution = true;
    check.text +=
        ", as devices that cut packets apart and join them (offload) count headers otherwise";
  }
  return check;
}

/// Captured frames of each host against what its device counted.
Check counters_check(const ConductOutcome& outcome) {
  if (!outcome.least_counters.empty()) return bracketed_check(outcome);
  std::uint64_t captured = 0;
  std::uint64_t counted = 0;
  bool same = true;
  for (std::size_t i = 0; i < outcome.captures.size(); ++i) {
    const watch::LinkCounters& counters = outcome.counters[i];
    captured += outcome.captures[i].bytes;
    counted += counters.sent_bytes + counters.received_bytes;
    same = same && outcome.captures[i].bytes == counters.sent_bytes + counters.received_bytes;
  }
  return {.name = "bytes",
          .ok = same,
          .expected = fmt::format("{} counted by the devices", counted),
          .found = fmt::format("{} captured", captured),
          .text = same ? "captures and device counters agree to the byte on every host"
                       : fmt::format("captures and device counters differ by {} bytes",
                                     static_cast<std::int64_t>(captured - counted))};
}

/// What the analysis says each host sent against what its device counted.
Check pairs_check(const ConductOutcome& outcome, const ConductRequest& request,
                  const CaptureResult& result) {
  std::map<std::string, std::uint64_t> sent;
  const HostNames names(result.traffic, result.analysis);
  std::uint64_t all = 0;
  for (const HostPair& pair : host_pairs(result.traffic, names)) {
    sent[names.name(pair.from)] += pair.count.wire_bytes;
    all += pair.count.wire_bytes;
  }
  std::uint64_t counted = 0;
  bool same = true;
  for (std::size_t i = 0; i < outcome.counters.size(); ++i) {
    counted += outcome.counters[i].sent_bytes;
    same = same && sent[request.plan.hosts[i].name] == outcome.counters[i].sent_bytes;
  }
  return {.name = "pairs",
          .ok = same,
          .expected = fmt::format("{} sent by the devices", counted),
          .found = fmt::format("{} in the matrix", all),
          .text = same ? "bytes per pair add up to each host's counter"
                       : "bytes per pair do not add up to each host's counter"};
}

Check machine_check(const ConductOutcome& outcome) {
  const bool ok = outcome.verdict.level <= watch::WatchLevel::Caution;
  return {.name = "machine",
          .ok = ok,
          .expected = "the network is the limit",
          .found = watch::level_name(outcome.verdict.level),
          .text = outcome.verdict.reasons.empty()
                      ? "the machine kept up"
                      : fmt::format("{}", fmt::join(outcome.verdict.reasons, "; ")),
          .caution = outcome.verdict.level == watch::WatchLevel::Caution ? std::optional(true)
                                                                         : std::nullopt};
}

/// Packets are stamped by a clock that can be set; steps are timed by one that cannot.
Check clock_check(const ConductOutcome& outcome) {
  const std::int64_t step = os::clock_step_ns(outcome.started, outcome.ended);
  const bool ok = std::abs(step) < kClockStepNs;
  const std::string found = fmt::format("{:+.3f} s", 1e-9 * static_cast<double>(step));
  return {.name = "clock",
          .ok = ok,
          .expected = "less than 1 ms",
          .found = found,
          .text = ok ? "the machine's clock was not set meanwhile"
                     : fmt::format("the machine's clock was set by {} meanwhile: times of packets "
                                   "and times of steps do not belong together",
                                   found)};
}

using HostPairBytes = std::map<std::pair<std::string, std::string>, std::int64_t>;

bool all_told(const std::vector<RankState>& ranks) {
  for (const RankState& rank : ranks) {
    if (!rank.told_counts) return false;
  }
  return true;
}

/// What schedules move against what ranks say they sent, for every pair of ranks.
Check schedule_check(const std::vector<TrainingJob>& jobs, const std::vector<RankState>& ranks) {
  std::int64_t scheduled = 0;
  std::int64_t sent = 0;
  std::string first;
  std::vector<std::vector<std::vector<std::int64_t>>> expected;
  for (const TrainingJob& job : jobs) {
    expected.push_back(workload::bytes_by_rank(job.training()));
  }
  for (const RankState& rank : ranks) {
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

Check not_counted() {
  return {.name = "schedule",
          .ok = true,
          .expected = "every rank tells what it sent",
          .found = "a group of ranks was given up",
          .text = "bytes are not compared: who was lost told nothing of what it sent",
          .caution = true};
}

Check sums_check(const std::vector<RankState>& ranks) {
  const bool learns = std::ranges::any_of(
      ranks, [](const RankState& rank) { return rank.counts.learnt.has_value(); });
  std::int64_t checked = 0;
  std::int64_t wrong = 0;
  for (const RankState& rank : ranks) {
    checked += rank.counts.checked;
    wrong += rank.counts.wrong;
  }
  return {.name = "sums",
          .ok = wrong == 0,
          .expected = "0 wrong",
          .found = fmt::format("{} of {} elements wrong", wrong, checked),
          .text = wrong != 0 ? fmt::format("{} of {} elements are wrong", wrong, checked)
                  : checked == 0 && learns
                      ? "real gradients: what they lead to is checked, not sums"
                  : checked == 0 ? "not verified: the payload is large; verify = true does it"
                                 : fmt::format("{} elements right", grouped(checked))};
}

/// What the kernel counted of carriers' connections, by the hosts that they are on.
void add_carried(HostPairBytes& bytes, const std::vector<TrainingJob>& jobs,
                 const std::vector<RankState>& ranks) {
  std::vector<carrier::TcpCount> counts;
  std::map<std::string, std::string> name_of;
  for (const RankState& rank : ranks) {
    const TrainingJob& job = jobs[rank.job];
    counts.insert(counts.end(), rank.counts.tcp.begin(), rank.counts.tcp.end());
    name_of[job.tasks[rank.rank].address] =
        job.host_names[static_cast<std::size_t>(job.hosts[rank.rank])];
  }
  for (const auto& [ends, sum] : carrier::stream_bytes(counts)) {
    const std::string& from = name_of[ends.first];
    const std::string& to = name_of[ends.second];
    if (from != to && !from.empty() && !to.empty() && sum > 0) bytes[{from, to}] += sum;
  }
}

/// What is multicast is in no pair's stream, but in datagrams to its group and in answers.
void move_casts(HostPairBytes& bytes, const std::vector<TrainingJob>& jobs,
                const std::vector<RankState>& ranks) {
  for (const RankState& rank : ranks) {
    const TrainingJob& job = jobs[rank.job];
    const auto name = [&](std::size_t r) {
      return job.host_names[static_cast<std::size_t>(job.hosts[r])];
    };
    for (const RankCounts::Cast& cast : rank.counts.casts) {
      const bool is_hub = cast.hub == rank.rank;
      for (const std::size_t member : cast.members) {
        if (is_hub) bytes[{name(cast.hub), name(member)}] -= cast.sent;
      }
      bytes[{name(rank.rank), is_hub ? cast.address : name(cast.hub)}] += cast.datagram_bytes;
    }
  }
  std::erase_if(bytes, [](const auto& pair) { return pair.second == 0; });
}

/// Payload and framing of all ranks, by the hosts that they are on; where a library carries the
/// payload, what the kernel counted in its place.
HostPairBytes counted_by_hosts(const std::vector<TrainingJob>& jobs,
                               const std::vector<RankState>& ranks) {
  HostPairBytes bytes;
  add_carried(bytes, jobs, ranks);
  for (const RankState& rank : ranks) {
    const TrainingJob& job = jobs[rank.job];
    const auto name = [&](std::size_t r) {
      return job.host_names[static_cast<std::size_t>(job.hosts[r])];
    };
    for (std::size_t peer = 0; peer < rank.counts.sent.size(); ++peer) {
      const std::int64_t sent = job.carrier.empty() ? rank.counts.sent[peer] : 0;
      const std::int64_t all = sent + rank.counts.framing[peer];
      if (all > 0 && name(rank.rank) != name(peer)) bytes[{name(rank.rank), name(peer)}] += all;
    }
  }
  move_casts(bytes, jobs, ranks);
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

Check stream_check(const std::vector<TrainingJob>& jobs, const std::vector<RankState>& ranks,
                   const CaptureResult& result) {
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
  for (const auto& [pair, bytes] : captured) {
    if (counted.contains(pair) || !first.empty()) continue;
    first = fmt::format("{} to {}: the wire shows {} bytes that no rank sent", pair.first,
                        pair.second, bytes);
  }
  return {.name = "stream",
          .ok = first.empty(),
          .expected = fmt::format("{} bytes sent by the ranks", counted_sum),
          .found = fmt::format("{} bytes of TCP streams captured", sum),
          .text = !first.empty()
                      ? first
                      : "the wire shows what the ranks sent, to the byte, for every pair"};
}

/// What was sent once instead of to each, and again because somebody missed it.
Check casts_check(const std::vector<RankState>& ranks) {
  std::int64_t once = 0;
  std::int64_t each = 0;
  std::int64_t packets = 0;
  std::int64_t resent = 0;
  for (const RankState& rank : ranks) {
    for (const RankCounts::Cast& cast : rank.counts.casts) {
      once += cast.sent;
      each += cast.sent * static_cast<std::int64_t>(cast.members.size());
      packets += cast.packets;
      resent += cast.resent;
    }
  }
  const bool is_costly = static_cast<double>(resent) > kCostlyRepair * static_cast<double>(packets);
  const std::string again =
      fmt::format("{} of {} packets again", grouped(resent), grouped(packets));
  Check check{.name = "multicast",
              .ok = true,
              .expected = "at most a tenth is sent again",
              .found = again,
              .text = fmt::format("{} once over each link in place of {} to each receiver; {}",
                                  readable(Bytes(once)), readable(Bytes(each)), again)};
  if (is_costly) check.caution = true;
  return check;
}

bool multicasts(const std::vector<RankState>& ranks) {
  return std::ranges::any_of(ranks,
                             [](const RankState& rank) { return !rank.counts.casts.empty(); });
}

}  // namespace

std::vector<Check> conduct_checks(const ConductOutcome& outcome, const ConductRequest& request,
                                  const CaptureResult& result) {
  std::vector<Check> checks{ranks_check(outcome)};
  if (request.checks_network) checks.push_back(network_check(outcome, request));
  if (request.captures && !outcome.captures.empty()) {
    checks.push_back(drops_check(outcome));
    checks.push_back(counters_check(outcome));
    const bool alone = outcome.least_counters.empty();
    if (result.traffic.totals.packets > 0 && alone) {
      checks.push_back(pairs_check(outcome, request, result));
    }
  }
  checks.push_back(clock_check(outcome));
  if (outcome.least_counters.empty()) checks.push_back(machine_check(outcome));
  return checks;
}

std::vector<Check> training_checks(const std::vector<TrainingJob>& jobs,
                                   const std::vector<RankState>& ranks, const CaptureResult& result,
                                   Recovered recovered) {
  if (recovered == Recovered::Yes) return {not_counted(), sums_check(ranks)};
  std::vector<Check> checks{schedule_check(jobs, ranks), sums_check(ranks)};
  if (multicasts(ranks)) checks.push_back(casts_check(ranks));
  if (result.traffic.totals.packets > 0) checks.push_back(stream_check(jobs, ranks, result));
  return checks;
}

}  // namespace tw::lab
