// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/outcome.h"

#include "trainwire/summarise/describe.h"
#include "trainwire/summarise/tables.h"
#include "trainwire/testbed/choose.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace tw::lab {
namespace {

using network::NetPlan;
using network::Port;
using summarise::CaptureResult;
using testbed::PathCheck;

std::string direction_name(const Port& port) {
  return port.direction == spec::Direction::FromHost ? "from_host" : "to_host";
}

std::string fitness_name(testbed::Fitness fitness) {
  constexpr std::array<const char*, 3> kNames{"ok", "warn", "refused"};
  return kNames[static_cast<std::size_t>(fitness)];
}

std::string node_name(const NetPlan& plan, int node) {
  const auto hosts = static_cast<int>(plan.hosts.size());
  return node < hosts ? plan.hosts[static_cast<std::size_t>(node)].name
                      : plan.switches[static_cast<std::size_t>(node - hosts)];
}

/// The path on which a port's rate was measured: the first that it limits, else the first that
/// crosses it; null when none does.
const PathCheck* check_of(const NetPlan& plan, int port, const std::vector<PathCheck>& checks) {
  const PathCheck* crossing = nullptr;
  for (const PathCheck& check : checks) {
    const std::vector<int> path = plan.path(check.path.from, check.path.to);
    if (std::find(path.begin(), path.end(), port) == path.end()) continue;
    if (check.expected.rate == plan.ports[static_cast<std::size_t>(port)].rate) return &check;
    if (crossing == nullptr) crossing = &check;
  }
  return crossing;
}

record::RequestedLink requested(const Port& port) {
  record::RequestedLink link{.rate_bps = port.rate.bits_per_second(),
                             .delay_s = seconds(port.delay),
                             .jitter_s = seconds(port.jitter),
                             .loss = port.loss,
                             .loss_burst = port.loss_burst,
                             .queue_bytes = port.queue.count()};
  if (port.ecn) link.ecn_bytes = port.ecn->count();
  return link;
}

record::Link link_of(const NetPlan& plan, int number, const std::vector<PathCheck>& checks) {
  const Port& port = plan.ports[static_cast<std::size_t>(number)];
  record::Link link{
      .name = port.link, .direction = direction_name(port), .requested = requested(port)};
  if (const PathCheck* const check = check_of(plan, number, checks)) {
    link.effective = record::EffectiveLink{
        .rate_bps = check->found.rate.carried.bits_per_second(),
        .path = {node_name(plan, check->path.from), node_name(plan, check->path.to)},
        .path_round_trip_s = seconds(check->found.round_trip.median),
        .path_loss = check->found.loss.share()};
  }
  return link;
}

record::Path path_of(const NetPlan& plan, const PathCheck& check) {
  const measure::ShareInterval interval = check.found.loss.interval();
  return {.from = node_name(plan, check.path.from),
          .to = node_name(plan, check.path.to),
          .fitness = fitness_name(check.fitness),
          .requested = {.rate_bps = check.expected.rate.bits_per_second(),
                        .round_trip_s = seconds(check.expected.round_trip),
                        .loss = check.expected.loss},
          .effective = {.rate_bps = check.found.rate.carried.bits_per_second(),
                        .round_trip_s = seconds(check.found.round_trip.median),
                        .round_trip_p99_s = seconds(check.found.round_trip.p99),
                        .loss = check.found.loss.share(),
                        .loss_ci_low = interval.low,
                        .loss_ci_high = interval.high,
                        .loss_packets = check.found.loss.sent},
          .problems = check.problems};
}

void write_links(const ConductOutcome& outcome, const NetPlan& plan, record::RunFolder& folder) {
  result::TableFile& table = folder.table("links");
  for (int i = 0; i < static_cast<int>(2 * plan.hosts.size()); ++i) {
    const Port& port = plan.ports[static_cast<std::size_t>(i)];
    const bool out = port.direction == spec::Direction::FromHost;
    const PathCheck* check = check_of(plan, i, outcome.network);
    const watch::LinkCounters counters = static_cast<std::size_t>(i / 2) < outcome.counters.size()
                                             ? outcome.counters[static_cast<std::size_t>(i / 2)]
                                             : watch::LinkCounters{};
    table.row(
        {port.link, out ? "from_host" : "to_host", port.rate.bits_per_second(),
         check != nullptr ? result::Cell(check->found.rate.carried.bits_per_second())
                          : result::Cell(),
         out ? counters.sent_packets : counters.received_packets,
         out ? counters.sent_bytes : counters.received_bytes,
         out ? static_cast<std::uint64_t>(counters.queue_dropped) : counters.received_dropped});
  }
}

/// Counters of every host while the ranks ran, only where they changed.
void write_samples(const ConductOutcome& outcome, const NetPlan& plan, record::RunFolder& folder) {
  result::TableFile& table = folder.table("samples");
  const std::vector<watch::LinkSample>& samples = outcome.watch.links;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t host = 0; host < samples[i].links.size(); ++host) {
      const watch::LinkCounters& now = samples[i].links[host];
      const bool same = i > 0 && i + 1 < samples.size() && now == samples[i - 1].links[host] &&
                        now == samples[i + 1].links[host];
      if (same) continue;
      table.row({samples[i].time_ns, plan.hosts[host].name, now.sent_bytes, now.received_bytes,
                 now.queue_bytes, now.queue_dropped});
    }
  }
}

void write_load(const ConductOutcome& outcome, record::RunFolder& folder) {
  result::TableFile& table = folder.table("load");
  const std::vector<watch::LoadSample>& loads = outcome.watch.loads;
  for (std::size_t i = 1; i < loads.size(); ++i) {
    const auto load = watch::load_between(outcome.watch, loads[i - 1].time_ns, loads[i].time_ns);
    if (load) table.row({loads[i].time_ns, load->busy, load->steal, load->wait});
  }
}

/// Knows cross traffic by the sinks it goes to, and sums what goes there.
class CrossBytes {
 public:
  CrossBytes(std::span<const transport::tcp::Endpoint> sinks,
             std::map<std::pair<std::string, std::string>, std::int64_t>& sums)
      : sums_(sums) {
    for (const auto& sink : sinks) sinks_.insert({sink.address, sink.port});
  }

  /// Whether the flow is cross traffic.
  bool take(const flow::Flow& flow, const std::vector<packet::Address>& addresses) {
    if (sinks_.empty()) return false;
    const std::string from = addresses[flow.key.source].text();
    const std::string to = addresses[flow.key.destination].text();
    const bool forth = sinks_.contains({to, flow.key.destination_port});
    if (!forth && !sinks_.contains({from, flow.key.source_port})) return false;
    sums_[{from, to}] += static_cast<std::int64_t>(flow.stream_bytes());
    return true;
  }

 private:
  std::set<std::pair<std::string, std::uint16_t>> sinks_;
  std::map<std::pair<std::string, std::string>, std::int64_t>& sums_;
};

}  // namespace

CaptureResult analysed(const ConductOutcome& outcome, const NetPlan& plan,
                       const std::optional<imports::StepLog>& log,
                       std::span<const transport::tcp::Endpoint> sinks) {
  CaptureResult result;
  std::vector<std::string> files;
  for (const capture::LiveResult& capture : outcome.captures) {
    if (capture.packets > 0 && !capture.failure) files.push_back(capture.file);
  }
  diagnose::AnalysisOptions how;
  for (const network::HostPlan& host : plan.hosts) how.names.emplace_back(host.address, host.name);
  how.log = log;
  result.interrupted = outcome.interrupted;
  if (files.empty()) return result;
  gather::ReadOptions reading;
  reading.one_clock = true;  // all hosts are on this machine
  CrossBytes cross(sinks, result.cross_bytes);
  if (!sinks.empty()) {
    reading.retired = [&](const flow::Flow& flow, const auto& addresses) {
      cross.take(flow, addresses);
    };
  }
  result.traffic = gather::read_traffic(files, reading);
  for (flow::Flow& flow : result.traffic.flows) {
    flow.cross = cross.take(flow, result.traffic.addresses);
  }
  result.analysis = diagnose::analyse(result.traffic, how);
  summarise::add_figures(result);
  return result;
}

void write_tables(const CaptureResult& result, const ConductOutcome& outcome, const NetPlan& plan,
                  record::RunFolder& folder) {
  if (result.traffic.totals.packets > 0) summarise::write_tables(result, folder);
  write_links(outcome, plan, folder);
  write_samples(outcome, plan, folder);
  write_load(outcome, folder);
}

record::Network described(const NetPlan& plan, const std::vector<PathCheck>& checks) {
  record::Network network;
  for (int i = 0; i < static_cast<int>(plan.ports.size()); ++i) {
    network.links.push_back(link_of(plan, i, checks));
  }
  for (const PathCheck& check : checks) network.paths.push_back(path_of(plan, check));
  return network;
}

record::Run described(std::string_view command, const CaptureResult& result,
                      const ConductOutcome& outcome, const ConductRequest& request) {
  record::Run run = summarise::described(result, command);
  run.engine = std::string(testbed::name_of(request.engine));
  run.network = described(request.plan, outcome.network);
  run.cpu_bound = outcome.verdict.level >= watch::WatchLevel::CpuBound;
  run.machine = {.level = watch::level_name(outcome.verdict.level),
                 .reasons = outcome.verdict.reasons};
  for (const RankOutcome& rank : outcome.ranks) {
    run.ranks.push_back({.name = rank.label,
                         .exit_code = rank.ending.exit_code,
                         .signal = rank.ending.signal,
                         .stopped = rank.stopped,
                         .output = rank.output});
  }
  run.duration_s =
      1e-9 * static_cast<double>(outcome.ended.monotonic_ns - outcome.started.monotonic_ns);
  return run;
}

std::optional<record::Utilisation> busiest_link(const ConductOutcome& outcome,
                                                const network::NetPlan& plan, std::int64_t begin_ns,
                                                std::int64_t end_ns) {
  const std::vector<watch::LinkSample>& samples = outcome.watch.links;
  const auto at = [&](std::int64_t time) {
    return std::lower_bound(samples.begin(), samples.end(), time,
                            [](const auto& sample, std::int64_t t) { return sample.time_ns < t; });
  };
  const auto first = at(begin_ns);
  auto last = at(end_ns);
  if (last == samples.end() && !samples.empty()) --last;
  if (first >= last) return {};
  const double seconds = 1e-9 * static_cast<double>(last->time_ns - first->time_ns);
  std::optional<record::Utilisation> busiest;
  for (std::size_t host = 0; host < first->links.size(); ++host) {
    for (const bool out : {true, false}) {
      const network::Port& port = plan.ports[2 * host + (out ? 0 : 1)];
      const auto count = [&](const watch::LinkCounters& c) {
        return static_cast<double>(out ? c.sent_bytes : c.received_bytes);
      };
      const double rate = 8 * (count(last->links[host]) - count(first->links[host])) / seconds;
      const double share = rate / port.rate.bits_per_second();
      if (busiest && share <= busiest->share) continue;
      busiest = record::Utilisation{.link = port.link,
                                    .direction = out ? "from_host" : "to_host",
                                    .share = share,
                                    .rate_bps = rate};
    }
  }
  return busiest;
}

std::string partial_of(const ConductOutcome& outcome) {
  return outcome.interrupted ? "interrupted" : outcome.failure.value_or("");
}

void remove_captures(const ConductOutcome& outcome) {
  for (const capture::LiveResult& capture : outcome.captures) {
    std::error_code ignored;
    std::filesystem::remove(capture.file, ignored);
  }
}

}  // namespace tw::lab
