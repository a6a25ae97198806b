// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/counted.h"

#include "trainwire/operations/missing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace tw::operations {
namespace {

double seconds(std::int64_t nanos) { return 1e-9 * static_cast<double>(nanos); }

/// Operations of one kind of file, by op: how many there are of the rank that tells of most, and their bytes.
struct Counted {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};
using ByOp = std::map<std::string, Counted>;

/// The rank, or else which process of which file; all that say neither are one.
using Teller = std::tuple<int, int, const Told*>;

Teller teller_of(const Operation& each, const Told& file) {
  if (each.rank) return {*each.rank, 0, nullptr};
  return {-1, each.teller, each.teller > 0 ? &file : nullptr};
}

/// Each operation of a group once: the rank of it that tells of most counts.
std::vector<record::OperationGroup> groups_of(const std::vector<Told>& told,
                                              const std::string& kind) {
  struct OfGroup {
    int size = 0;
    std::map<Teller, Counted> by_teller = {};
  };
  std::map<std::tuple<std::string, std::string>, OfGroup> by_group;
  for (const Told& file : told) {
    if (file.kind != kind) continue;
    for (const Operation& each : file.operations) {
      // Where a rank stands is told, not in what.
      if (each.op == "unknown" && is_by_watchdog(each.group)) continue;
      OfGroup& of_group = by_group[{each.group, each.op}];
      of_group.size = std::max(of_group.size, each.group_size);
      Counted& of_teller = of_group.by_teller[teller_of(each, file)];
      ++of_teller.count;
      of_teller.bytes += static_cast<std::uint64_t>(each.bytes.value_or(0));
    }
  }
  std::vector<record::OperationGroup> made;
  for (const auto& [key, of_group] : by_group) {
    const auto most = std::max_element(
        of_group.by_teller.begin(), of_group.by_teller.end(),
        [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
    made.push_back({.group = std::get<0>(key),
                    .group_size = static_cast<std::uint64_t>(of_group.size),
                    .op = std::get<1>(key),
                    .count = most->second.count,
                    .bytes = most->second.bytes});
  }
  return made;
}

ByOp counted(const std::vector<record::OperationGroup>& groups) {
  ByOp made;
  for (const record::OperationGroup& each : groups) {
    made[each.op].count += each.count;
    made[each.op].bytes += each.bytes;
  }
  return made;
}

std::uint64_t bytes_of(const std::vector<record::OperationGroup>& groups) {
  std::uint64_t sum = 0;
  for (const record::OperationGroup& each : groups) sum += each.bytes;
  return sum;
}

/// Times of one op: of arrivals, or of what files tell that took a time alone (nccl-tests).
struct Timing {
  std::uint64_t timed = 0;
  std::optional<double> wait_s = {};  ///< nothing where only how long it took is told
  double transfer_s = 0;
  double whole_s = 0;
  double bus_bits = 0;
};

std::map<std::string, Timing> timings(const Imported& imported) {
  std::map<std::string, Timing> made;
  for (const Arrival& arrival : imported.arrivals) {
    Timing& timing = made[arrival.op];
    ++timing.timed;
    timing.wait_s = timing.wait_s.value_or(0) + arrival.mean_wait_s();
    timing.transfer_s += seconds(arrival.transfer_ns());
    timing.whole_s += seconds(arrival.end_ns - arrival.first_ns);
    timing.bus_bits += 8 * bus_factor(arrival.op, arrival.group_size) *
                       static_cast<double>(arrival.bytes.value_or(0));
  }
  return made;
}

/// Durations alone include waiting: only the whole is known, but for benchmarks, whose ranks start together.
void add_durations(const Imported& imported, std::map<std::string, Timing>& into) {
  std::map<std::string, Timing> alone;
  for (const Told& file : imported.told) {
    for (const Operation& each : file.operations) {
      if (each.clock != Clock::Alone || !each.end_ns || into.contains(each.op)) continue;
      Timing& timing = alone[each.op];
      ++timing.timed;
      timing.whole_s += seconds(*each.end_ns);
      if (is_benchmark(file.kind)) timing.transfer_s += seconds(*each.end_ns);
      if ((each.group_size == 0 && waits_for_all(each.op)) || each.op == "unknown")
        continue;  // its bus bandwidth is not known
      timing.bus_bits +=
          8 * bus_factor(each.op, each.group_size) * static_cast<double>(each.bytes.value_or(0));
    }
  }
  into.insert(alone.begin(), alone.end());
}

}  // namespace

bool is_benchmark(std::string_view kind) {
  return kind == "nccl_tests" || kind == "osu" || kind == "imb" || kind == "gloo_benchmark" ||
         kind == "iperf3" || kind == "oneccl" || kind == "all_reduce_bench" ||
         kind == "hccl_test" || kind == "nccom_test" || kind == "ucc_perftest" ||
         kind == "deepspeed_bench";
}

record::Operations operations_of(const Imported& imported) {
  record::Operations made;
  std::set<std::string> kinds;
  std::set<int> ranks;
  for (const Told& file : imported.told) {
    made.rows += file.operations.size();
    if (!file.operations.empty()) kinds.insert(file.kind);
    for (const Operation& each : file.operations) {
      if (each.rank) ranks.insert(*each.rank);
    }
  }
  made.ranks = ranks.size();
  ByOp most;
  for (const std::string& kind : kinds) {
    std::vector<record::OperationGroup> groups = groups_of(imported.told, kind);
    for (const auto& [op, each] : counted(groups)) {
      if (each.count > most[op].count ||
          (each.count == most[op].count && each.bytes > most[op].bytes)) {
        most[op] = each;
      }
    }
    if (made.by_group.empty() || bytes_of(groups) > bytes_of(made.by_group))
      made.by_group = std::move(groups);
  }
  std::stable_sort(made.by_group.begin(), made.by_group.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  auto times = timings(imported);
  add_durations(imported, times);
  for (const auto& [op, each] : most) {
    record::OperationKind kind{.op = op, .count = each.count, .bytes = each.bytes};
    made.count += each.count;
    if (const auto found = times.find(op); found != times.end()) {
      const Timing& timing = found->second;
      kind.timed = timing.timed;
      if (timing.transfer_s > 0) {
        kind.transfer_s = timing.transfer_s;
        kind.wait_s = timing.wait_s;
        if (timing.bus_bits > 0) kind.busbw_bps = timing.bus_bits / timing.transfer_s;
      }
      // Of benchmarks, which tell how long an operation took, nobody knows what is waiting.
      const bool has_whole = timing.wait_s || timing.transfer_s == 0;
      if (has_whole && timing.bus_bits > 0 && timing.whole_s > 0)
        kind.busbw_whole_bps = timing.bus_bits / timing.whole_s;
    }
    made.by_op.push_back(std::move(kind));
  }
  std::stable_sort(made.by_op.begin(), made.by_op.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return made;
}

}  // namespace tw::operations
