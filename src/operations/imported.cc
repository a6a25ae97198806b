// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/imported.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/operations/counted.h"
#include "trainwire/operations/findings.h"
#include "trainwire/operations/judge.h"
#include "trainwire/operations/matrix.h"
#include "trainwire/result/columns.h"
#include "trainwire/stats/estimate.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace tw::operations {
namespace {

constexpr std::size_t kFewest = 3;  ///< values that an interval rests on
constexpr double kUntypical = 1.5;  ///< times the others, as of steps that packets show

double seconds(std::int64_t nanos) { return 1e-9 * static_cast<double>(nanos); }

/// A first step that takes much longer, or less, than the others is start-up.
bool is_first_untypical(const std::vector<double>& times_s) {
  if (times_s.size() < 3) return false;
  const double usual_s = stats::median(std::vector<double>(times_s.begin() + 1, times_s.end()));
  return times_s.front() > kUntypical * usual_s || times_s.front() < usual_s / kUntypical;
}

/// From `first` on, those that are told by themselves, and averages once each.
std::vector<double> independent(const Steps& steps, std::size_t first) {
  std::vector<double> made;
  for (std::size_t i = first; i < steps.times_s.size(); ++i) {
    if (steps.is_shared[i] == 0) made.push_back(steps.times_s[i]);
  }
  return made;
}

/// How many averages tell the steps; nothing where each is told by itself, but for a first one without a start.
std::optional<std::uint64_t> averages_of(const Steps& steps) {
  const std::size_t told = independent(steps, 0).size();
  return told + 1 < steps.times_s.size() ? std::optional<std::uint64_t>(told) : std::nullopt;
}

record::Iterations iterations_of(const Steps& steps) {
  const bool without_first = is_first_untypical(steps.times_s);
  const std::vector<double> counted(steps.times_s.begin() + (without_first ? 1 : 0),
                                    steps.times_s.end());
  const std::vector<double> told = independent(steps, without_first ? 1 : 0);
  const auto averages = averages_of(steps);
  // Of one value or two nothing is known of how much it varies.
  const auto interval = told.size() < kFewest
                            ? std::nullopt
                            : std::optional<stats::Estimate>(stats::median_estimate(told));
  return {.count = steps.times_s.size(),
          .averages = averages,
          .source = "log",
          .confidence = 1,
          .evidence = fmt::format("{} steps told by {}{}", steps.times_s.size(), steps.kind,
                                  averages ? fmt::format(" as {} averages", *averages) : ""),
          .first_untypical = without_first,
          .median_s = stats::median(counted),
          .ci_low_s = interval ? std::optional(interval->low) : std::nullopt,
          .ci_high_s = interval ? std::optional(interval->high) : std::nullopt,
          .p99_s = averages ? std::nullopt : std::optional(stats::quantile(counted, 0.99)),
          .mean_s = std::accumulate(counted.begin(), counted.end(), 0.0) /
                    static_cast<double>(counted.size()),
          .usual_s = stats::usual(counted),
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

std::vector<record::Collective> told_collectives(const record::Run& run, const Imported& imported) {
  std::vector<record::Collective> made;
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
    made.push_back({.operation = kind.op,
                    .strategy = found == algorithm.end() ? "unknown" : found->second,
                    .order = ring ? ring_order(imported.wiring) : std::vector<std::string>(),
                    .bytes_per_iteration = bytes == per_step.end() ? 0 : bytes->second,
                    .count = imported.steps ? imported.steps->times_s.size() : 0,
                    .confidence = 1,
                    .evidence = "told by files",
                    .busbw_bps = kind.busbw_bps});
  }
  return made;
}

/// What a program says of its collectives goes before what packets suggest, where it says what each step moves, or packets
/// suggest nothing or something that is not among them; the order of hosts is that of the packets.
void prefer_told(record::Run& run, const Imported& imported) {
  std::vector<record::Collective> told = told_collectives(run, imported);
  const bool agree =
      std::any_of(run.collectives.begin(), run.collectives.end(), [&](const auto& found) {
        return std::any_of(told.begin(), told.end(),
                           [&](const auto& each) { return each.operation == found.operation; });
      });
  std::erase_if(
      told, [&](const record::Collective& each) { return each.bytes_per_iteration == 0 && agree; });
  if (told.empty()) return;
  const auto ring = std::find_if(run.collectives.begin(), run.collectives.end(),
                                 [](const auto& each) { return each.strategy == "ring"; });
  for (record::Collective& each : told) {
    if (ring == run.collectives.end() || each.strategy != "ring") continue;
    each.order = ring->order;
    each.evidence += "; packets: " + ring->evidence;
  }
  run.collectives = std::move(told);
}

record::Quality quality_of(const Imported& imported) {
  record::Quality quality{.level = "good"};
  if (imported.balance && imported.balance->without_file > 0) {
    const int of = imported.balance->group_size;
    quality.level = "fair";
    quality.reasons.push_back(
        fmt::format("times of {} of {} ranks: a rank without a file may be the last",
                    of - imported.balance->without_file, of));
  }
  if (is_cut_off(imported)) {
    quality.level = "fair";
    quality.reasons.emplace_back("traces end in the middle: what they lack is not counted");
  }
  for (const Told& file : imported.told) {
    if (file.records > 0 || !file.steps.empty() || !file.wiring.empty()) continue;
    quality.level = "fair";
    quality.reasons.push_back(fmt::format("{} tells nothing", printable(file.path)));
    break;
  }
  return quality;
}

/// Files that name no hosts know a rank; where packets name a host that is late by about as much, it is that one.
std::string late_host(const record::Run& run, const Imported& imported) {
  const Late& late = *imported.balance->late;
  constexpr double kAlike = 2;
  const bool packets_know = run.capture && run.straggler && !run.straggler->rank &&
                            run.straggler->delay_s < kAlike * late.delay_s &&
                            late.delay_s < kAlike * run.straggler->delay_s;
  if (packets_know && !imported.wiring.hosts.contains(late.rank)) return run.straggler->host;
  return place_of(imported.wiring, late.rank);
}

/// A host of the files as packets name it; nothing where none is there.
std::optional<std::string> packets_name(const record::Run& run, const Imported& imported,
                                        const std::string& host) {
  const auto address = imported.wiring.addresses.find(host);
  for (const record::Host& each : run.hosts) {
    const bool is_it = address != imported.wiring.addresses.end() &&
                       std::find(each.addresses.begin(), each.addresses.end(), address->second) !=
                           each.addresses.end();
    if (is_it || each.name == host) return each.name;
  }
  return {};
}

/// Takes back what packets say of a late host where what ranks tell of their arrivals says otherwise, and returns that.
std::string take_back_straggler(record::Run& run, const Imported& imported) {
  if (!run.straggler || run.straggler->rank) return {};
  std::string host;
  if (imported.balance && imported.balance->late)
    host = packets_name(run, imported, late_host(run, imported)).value_or("");
  const std::string text = contradiction(*run.straggler, imported, host);
  if (text.empty()) return {};
  run.straggler.reset();
  std::erase_if(run.findings, [](const record::Finding& each) { return each.kind == "straggler"; });
  run.findings.insert(run.findings.begin(),
                      {.text = text, .severity = "warning", .kind = "agreement"});
  return text;
}

void add_straggler(record::Run& run, const Imported& imported) {
  const auto& balance = imported.balance;
  if (!balance || !balance->late || balance->late->delay_s < 0.1 * balance->step_s) return;
  std::string host = late_host(run, imported);
  if (const auto name = packets_name(run, imported, host)) host = *name;
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

/// Of flow records, where there are no packets.
void add_matrix(record::Run& run, const Imported& imported) {
  run.pairs = matrix_of(imported.told);
  if (!run.hosts.empty()) return;
  std::set<std::string> names;
  for (const record::Pair& pair : run.pairs) names.insert({pair.from, pair.to});
  for (const std::string& name : names)
    run.hosts.push_back({.name = name, .addresses = {name}, .role = "other"});
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

/// What is left out because files do not say whose they are.
void add_notes(std::vector<Told>& told) {
  Told* nobody = nullptr;
  std::size_t nobodies = 0;
  for (Told& file : told) {
    if (file.kind != "flight_recorder" || file.operations.empty() || file.rank) continue;
    if (nobodies++ == 0) nobody = &file;
  }
  if (nobody == nullptr) return;
  nobody->notes.push_back(fmt::format(
      "{}{} {} no rank in {}, so that nobody can be named: a dump's name ends in its rank, "
      "nccl_trace_rank_3",
      printable(nobody->path), nobodies > 1 ? fmt::format(" and {} more", nobodies - 1) : "",
      nobodies > 1 ? "have" : "has", nobodies > 1 ? "their names" : "its name"));
}

}  // namespace

Imported imported(std::vector<Told> told) {
  Imported made{.told = std::move(told)};
  made.wiring = wired(made.told);
  join_same_rank(made.told);
  add_notes(made.told);
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

int ranks_of(const Imported& imported) {
  int ranks = imported.wiring.ranks;
  for (const Told& file : imported.told) ranks = std::max(ranks, file.world_size);
  return ranks;
}

bool is_cut_off(const Imported& imported) {
  return std::any_of(imported.told.begin(), imported.told.end(),
                     [](const Told& file) { return file.is_cut_off && !file.operations.empty(); });
}

void add_to(record::Run& run, const Imported& imported) {
  const bool has_packets = run.capture.has_value();
  run.operations = operations_of(imported);
  for (const Told& file : imported.told) run.sources.push_back(source_of(file));
  const record::Verdict files = verdict_of(imported);
  const std::string contradiction = take_back_straggler(run, imported);
  add_straggler(run, imported);
  add_findings(run, imported);
  if (has_packets) {
    add_volume(run, imported);
    prefer_told(run, imported);
    run.verdict = run.verdict ? of_both(*run.verdict, files, contradiction) : files;
    const bool is_files_late =
        run.verdict->cause == "late_rank" && run.verdict->where == files.where;
    if (is_files_late && run.straggler) run.verdict->where = run.straggler->host;
    if (const auto accounting = accounting_of(imported)) run.accounting = accounting;
    return;
  }
  run.verdict = files;
  run.accounting = accounting_of(imported);
  run.quality = quality_of(imported);
  add_hosts(run, imported);
  add_matrix(run, imported);
  if (imported.steps) run.iterations = iterations_of(*imported.steps);
  run.collectives = told_collectives(run, imported);
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

void write_pairs(const record::Run& run, record::RunFolder& folder) {
  if (run.pairs.empty()) return;
  result::TableFile& table = folder.table("pairs");
  for (const record::Pair& each : run.pairs) {
    table.row({each.from, each.to, each.packets, each.wire_bytes, each.payload_bytes,
               each.stream_bytes, each.retransmitted_bytes});
  }
}

}  // namespace tw::operations
