// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/imported.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/operations/judge.h"
#include "trainwire/result/columns.h"
#include "trainwire/stats/estimate.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

/// Each operation of a group once: the rank of it that tells of most counts.
ByOp counted(const std::vector<Told>& told, const std::string& kind) {
  std::map<std::tuple<std::string, std::string>, std::map<int, Counted>> by_group;
  for (const Told& file : told) {
    if (file.kind != kind) continue;
    for (const Operation& each : file.operations) {
      Counted& of_rank = by_group[{each.group, each.op}][each.rank.value_or(-1)];
      ++of_rank.count;
      of_rank.bytes += static_cast<std::uint64_t>(each.bytes.value_or(0));
    }
  }
  ByOp made;
  for (const auto& [key, ranks] : by_group) {
    const auto most = std::max_element(
        ranks.begin(), ranks.end(),
        [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
    made[std::get<1>(key)].count += most->second.count;
    made[std::get<1>(key)].bytes += most->second.bytes;
  }
  return made;
}

/// Times of one op: of arrivals, or of what files tell that took a time alone (nccl-tests).
struct Timing {
  std::uint64_t timed = 0;
  double wait_s = 0;
  double transfer_s = 0;
  double whole_s = 0;
  double bus_bits = 0;
};

std::map<std::string, Timing> timings(const Imported& imported) {
  std::map<std::string, Timing> made;
  for (const Arrival& arrival : imported.arrivals) {
    Timing& timing = made[arrival.op];
    ++timing.timed;
    timing.wait_s += arrival.mean_wait_s();
    timing.transfer_s += seconds(arrival.transfer_ns());
    timing.whole_s += seconds(arrival.end_ns - arrival.first_ns);
    timing.bus_bits += 8 * bus_factor(arrival.op, arrival.group_size) *
                       static_cast<double>(arrival.bytes.value_or(0));
  }
  return made;
}

/// Durations alone include waiting: only the whole is known, but for nccl-tests, whose ranks start together.
void add_durations(const Imported& imported, std::map<std::string, Timing>& into) {
  std::map<std::string, Timing> alone;
  for (const Told& file : imported.told) {
    for (const Operation& each : file.operations) {
      if (each.clock != Clock::Alone || !each.end_ns || into.contains(each.op)) continue;
      Timing& timing = alone[each.op];
      ++timing.timed;
      timing.whole_s += seconds(*each.end_ns);
      if (file.kind == "nccl_tests") timing.transfer_s += seconds(*each.end_ns);
      timing.bus_bits +=
          8 * bus_factor(each.op, each.group_size) * static_cast<double>(each.bytes.value_or(0));
    }
  }
  into.insert(alone.begin(), alone.end());
}

record::Finding finding(std::string text, bool is_trouble, std::string kind) {
  return {.text = std::move(text),
          .severity = is_trouble ? "warning" : "info",
          .kind = std::move(kind)};
}

void add_findings(record::Run& run, const Imported& imported) {
  std::vector<record::Finding> made;
  for (const Hang& hang : imported.hangs)
    made.push_back(finding(sentence_of(hang), true, "missing_rank"));
  const auto& balance = imported.balance;
  if (balance && balance->late) {
    const Late& late = *balance->late;
    const bool matters = late.delay_s >= 0.1 * balance->step_s;
    made.push_back(
        finding(fmt::format("rank {} is last in {} of {} collectives, {} after the median of the "
                            "others{}, {:.0f} % of all "
                            "lateness",
                            late.rank, late.times, balance->collectives,
                            readable(from_seconds(late.delay_s)),
                            balance->steps > 0 ? " in each step" : " in all", 100 * late.share),
                matters, "straggler"));
  }
  const auto remarks = remarks_on(imported.wiring);
  for (const Remark& remark : remarks) {
    if (remark.is_trouble) made.push_back(finding(remark.text, true, remark.kind));
  }
  if (balance) {
    const std::string of =
        balance->steps > 0 ? fmt::format("a step of {}", readable(from_seconds(balance->step_s)))
                           : readable(from_seconds(balance->step_s));
    made.push_back(finding(
        fmt::format(
            "of {}, a rank is in collectives for {}: {} of it hidden by computing; waiting for the "
            "last rank "
            "{}, transfer {}{}",
            of, readable(from_seconds(balance->in_collectives_s)),
            readable(from_seconds(balance->hidden_s)), readable(from_seconds(balance->wait_s)),
            readable(from_seconds(balance->transfer_s)),
            balance->busbw_bps
                ? fmt::format(" at {} of bus bandwidth", readable(BitRate(*balance->busbw_bps)))
                : ""),
        false, "arrivals"));
  }
  for (const Agreement& each : imported.agreements) {
    made.push_back(finding(
        each.agrees
            ? fmt::format(
                  "{} and {} tell of the same {} operations of ranks, {} bytes, in the same order",
                  each.one, each.other, grouped(static_cast<std::int64_t>(each.compared)),
                  grouped(static_cast<std::int64_t>(each.bytes)))
            : fmt::format("{} and {} do not tell of the same operations: {}", each.one, each.other,
                          each.difference),
        !each.agrees, "agreement"));
  }
  for (const Remark& remark : remarks) {
    if (!remark.is_trouble) made.push_back(finding(remark.text, false, remark.kind));
  }
  for (const Told& file : imported.told) {
    for (const std::string& note : file.notes) made.push_back(finding(note, false, "note"));
  }
  run.findings.insert(run.findings.end(), made.begin(), made.end());
  std::stable_partition(run.findings.begin(), run.findings.end(),
                        [](const record::Finding& each) { return each.severity == "warning"; });
}

/// Bytes of NCCL's log as ring neighbours carry them, against the packets'.
void add_volume(record::Run& run, const Imported& imported) {
  double told = 0;
  std::set<int> ranks;
  for (const Told& file : imported.told) {
    if (file.kind != "nccl_log") continue;
    for (const Operation& each : file.operations) {
      const auto bytes = ring_wire_bytes(each);
      if (!bytes) return;
      if (each.rank) ranks.insert(*each.rank);
      told += *bytes / each.group_size;  // each rank tells its own part
    }
  }
  if (told <= 0 || imported.wiring.ranks < 2 ||
      ranks.size() != static_cast<std::size_t>(imported.wiring.ranks)) {
    return;
  }
  double carried = 0;
  for (const record::Pair& pair : run.pairs) carried += static_cast<double>(pair.stream_bytes);
  if (carried <= 0) return;
  run.findings.push_back(
      finding(fmt::format("NCCL's log has {} to move over the ring, packets carry {} ({:+.2f} %)",
                          readable(Bytes(static_cast<std::int64_t>(told))),
                          readable(Bytes(static_cast<std::int64_t>(carried))),
                          100 * (carried - told) / told),
              false, "volume"));
}

record::Iterations iterations_of(const Steps& steps) {
  const stats::Estimate median = stats::median_estimate(steps.times_s);
  return {.count = steps.times_s.size(),
          .source = "log",
          .confidence = 1,
          .median_s = median.value,
          .ci_low_s = median.low,
          .ci_high_s = median.high,
          .p99_s = stats::quantile(steps.times_s, 0.99),
          .times_s = steps.times_s,
          .starts_s = steps.starts_s};
}

/// Bytes of each op that begin in a step, median over steps whose times are told; of the rank that tells them.
std::map<std::string, std::uint64_t> bytes_per_step(const Imported& imported) {
  std::map<std::string, std::uint64_t> made;
  if (!imported.steps || imported.steps->starts_s.size() < 2) return made;
  const Steps& steps = *imported.steps;
  for (const Told& file : imported.told) {
    std::map<std::string, std::map<std::size_t, double>> by_op;
    for (const Operation& each : file.operations) {
      const auto asked = each.enqueue_ns ? each.enqueue_ns : each.start_ns;
      if (!asked || !each.bytes || each.clock != Clock::Epoch || each.rank != file.rank) continue;
      const double at = seconds(*asked);
      const auto next = std::upper_bound(steps.starts_s.begin(), steps.starts_s.end(), at);
      if (next == steps.starts_s.begin()) continue;
      const auto index = static_cast<std::size_t>(next - steps.starts_s.begin()) - 1;
      if (at >= steps.starts_s[index] + steps.times_s[index]) continue;
      by_op[each.op][index] += static_cast<double>(*each.bytes);
    }
    for (const auto& [op, by_step] : by_op) {
      std::vector<double> sums;
      for (const auto& [step, bytes] : by_step) sums.push_back(bytes);
      const auto bytes = static_cast<std::uint64_t>(stats::median(sums));
      made[op] = std::max(made[op], bytes);
    }
  }
  return made;
}

std::vector<std::string> ring_order(const Wiring& wiring) {
  std::vector<std::string> order;
  if (wiring.rings.empty()) return order;
  for (const int rank : wiring.rings.begin()->second) {
    const std::string place = place_of(wiring, rank);
    if (order.empty() || order.back() != place) order.push_back(place);
  }
  return order;
}

void add_collectives(record::Run& run, const Imported& imported) {
  const auto per_step = bytes_per_step(imported);
  std::map<std::string, std::string> algorithm;
  for (const Told& file : imported.told) {
    for (const Operation& each : file.operations) {
      // What a log says ran goes before what a kernel is called.
      if (!each.algorithm.empty() && (file.kind == "nccl_log" || !algorithm.contains(each.op)))
        algorithm[each.op] = each.algorithm;
    }
  }
  for (const record::OperationKind& kind : run.operations->by_op) {
    const auto bytes = per_step.find(kind.op);
    const auto found = algorithm.find(kind.op);
    const bool ring = found != algorithm.end() && found->second == "ring";
    run.collectives.push_back(
        {.operation = kind.op,
         .strategy = found == algorithm.end() ? "unknown" : found->second,
         .order = ring ? ring_order(imported.wiring) : std::vector<std::string>(),
         .bytes_per_iteration = bytes == per_step.end() ? 0 : bytes->second,
         .count = imported.steps ? imported.steps->times_s.size() : 0,
         .confidence = 1,
         .evidence = "told by files",
         .busbw_bps = kind.busbw_bps});
  }
}

record::Quality quality_of(const Imported& imported) {
  record::Quality quality{.level = "good"};
  for (const Arrival& arrival : imported.arrivals) {
    const int told = static_cast<int>(arrival.parts.size());
    if (arrival.group_size <= told) continue;
    quality.level = "fair";
    quality.reasons.push_back(
        fmt::format("times of {} of {} ranks: a rank without a file may be the last", told,
                    arrival.group_size));
    break;
  }
  for (const Told& file : imported.told) {
    if (file.records > 0) continue;
    quality.level = "fair";
    quality.reasons.push_back(fmt::format("{} tells nothing", printable(file.path)));
    break;
  }
  return quality;
}

void add_straggler(record::Run& run, const Imported& imported) {
  const auto& balance = imported.balance;
  if (!balance || !balance->late || balance->late->delay_s < 0.1 * balance->step_s) return;
  std::string host = place_of(imported.wiring, balance->late->rank);
  const auto address = imported.wiring.addresses.find(host);
  for (const record::Host& each : run.hosts) {
    const bool is_it = address != imported.wiring.addresses.end() &&
                       std::find(each.addresses.begin(), each.addresses.end(), address->second) !=
                           each.addresses.end();
    if (is_it) host = each.name;
  }
  run.straggler =
      record::Straggler{.host = host,
                        .delay_s = balance->late->delay_s,
                        .confidence = std::min(0.95, balance->late->share),
                        .evidence = fmt::format("last in {} of {} collectives",
                                                balance->late->times, balance->collectives),
                        .rank = balance->late->rank};
}

void add_hosts(record::Run& run, const Imported& imported) {
  std::set<std::string> names;
  for (const auto& [rank, host] : imported.wiring.hosts) names.insert(host);
  for (const std::string& name : names) {
    const auto address = imported.wiring.addresses.find(name);
    record::Host host{.name = name, .role = "worker"};
    if (address != imported.wiring.addresses.end()) host.addresses.push_back(address->second);
    run.hosts.push_back(std::move(host));
  }
}

record::Source source_of(const Told& file) {
  record::Source made{.path = file.path,
                      .kind = file.kind,
                      .records = file.records,
                      .skipped = file.skipped,
                      .reasons = file.reasons};
  if (file.clock_uncertainty_ns) {
    made.clock_offset_s = seconds(file.clock_offset_ns);
    made.clock_uncertainty_s = seconds(*file.clock_uncertainty_ns);
  }
  return made;
}

}  // namespace

Imported imported(std::vector<Told> told) {
  Imported made{.told = std::move(told)};
  made.wiring = wired(made.told);
  for (Told& file : made.told) {
    for (Operation& each : file.operations) {
      if (!each.host.empty() || !each.rank) continue;
      const auto host = made.wiring.hosts.find(*each.rank);
      if (host != made.wiring.hosts.end()) each.host = host->second;
    }
  }
  made.arrivals = arrivals(made.told);
  made.balance = balance_of(made.arrivals, made.told);
  made.hangs = hangs(made.told);
  made.agreements = agreements(made.told);
  made.steps = steps_of(made.told);
  return made;
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
    for (const auto& [op, each] : counted(imported.told, kind)) {
      if (each.count > most[op].count ||
          (each.count == most[op].count && each.bytes > most[op].bytes)) {
        most[op] = each;
      }
    }
  }
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
      if (timing.bus_bits > 0 && timing.whole_s > 0)
        kind.busbw_whole_bps = timing.bus_bits / timing.whole_s;
    }
    made.by_op.push_back(std::move(kind));
  }
  std::stable_sort(made.by_op.begin(), made.by_op.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return made;
}

void add_to(record::Run& run, const Imported& imported) {
  const bool has_packets = run.capture.has_value();
  run.operations = operations_of(imported);
  for (const Told& file : imported.told) run.sources.push_back(source_of(file));
  const record::Verdict files = verdict_of(imported);
  add_straggler(run, imported);
  add_findings(run, imported);
  if (has_packets) {
    add_volume(run, imported);
    run.verdict = run.verdict ? of_both(*run.verdict, files) : files;
    if (const auto accounting = accounting_of(imported)) run.accounting = accounting;
    return;
  }
  run.verdict = files;
  run.accounting = accounting_of(imported);
  run.quality = quality_of(imported);
  add_hosts(run, imported);
  if (imported.steps) run.iterations = iterations_of(*imported.steps);
  add_collectives(run, imported);
}

void write_table(const Imported& imported, record::RunFolder& folder) {
  if (std::all_of(imported.told.begin(), imported.told.end(),
                  [](const Told& file) { return file.operations.empty(); })) {
    return;
  }
  result::TableFile& table = folder.table("operations");
  const auto cell = [](const auto& value) { return value ? result::Cell(*value) : result::Cell(); };
  const auto count = [](int value) { return value > 0 ? result::Cell(value) : result::Cell(); };
  for (const Told& file : imported.told) {
    for (const Operation& each : file.operations) {
      table.row({cell(each.rank), each.host, each.group, count(each.group_size), each.op,
                 cell(each.sequence), cell(each.bytes), each.dtype, each.algorithm, each.protocol,
                 count(each.channels), cell(each.peer), cell(each.enqueue_ns), cell(each.start_ns),
                 cell(each.end_ns), name_of(each.state), name_of(each.clock), file.kind});
    }
  }
}

}  // namespace tw::operations
