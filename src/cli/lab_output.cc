// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/lab_output.h"

#include "trainwire/base/printable.h"
#include "trainwire/cli/capture_document.h"
#include "trainwire/cli/capture_tables.h"
#include "trainwire/cli/network_text.h"
#include "trainwire/cli/version.h"
#include "trainwire/result/schema.h"
#include "trainwire/testbed/choose.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <map>
#include <set>

namespace tw::cli {
namespace {

constexpr std::size_t kLastLines = 15;

void write_links(const lab::ConductOutcome& outcome, const network::NetPlan& plan,
                 result::RunFolder& folder) {
  result::TableFile& table = folder.table("links");
  for (int i = 0; i < static_cast<int>(2 * plan.hosts.size()); ++i) {
    const network::Port& port = plan.ports[static_cast<std::size_t>(i)];
    const bool out = port.direction == spec::Direction::FromHost;
    const testbed::PathCheck* check = check_of(plan, i, outcome.network);
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
void write_samples(const lab::ConductOutcome& outcome, const network::NetPlan& plan,
                   result::RunFolder& folder) {
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

void write_load(const lab::ConductOutcome& outcome, result::RunFolder& folder) {
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

std::string default_folder(const ExperimentFile& experiment, bool force) {
  const std::filesystem::path path(experiment.path);
  const std::string name = path.filename() == "experiment.toml" && path.has_parent_path()
                               ? path.parent_path().filename().string()
                               : path.stem().string();
  std::string folder = name + ".run";
  for (int i = 2; !force && std::filesystem::exists(folder); ++i) {
    folder = fmt::format("{}-{}.run", name, i);
  }
  return folder;
}

result::RunFolder take_folder(std::string_view command, const ExperimentFile& experiment,
                              const std::string& path, bool force, Streams streams) {
  result::Provenance provenance{.command = std::string(command),
                                .command_line = {"trainwire"},
                                .version = std::string(version()),
                                .commit = std::string(commit())};
  for (const std::string& word : streams.arguments) provenance.command_line.push_back(word);
  if (experiment.path != "-") provenance.inputs.push_back(result::describe_input(experiment.path));
  return {path.empty() ? default_folder(experiment, force) : path, std::move(provenance),
          force ? result::IfThere::Replace : result::IfThere::Refuse};
}

CaptureResult analyse(const lab::ConductOutcome& outcome, const network::NetPlan& plan,
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
  add_figures(result);
  return result;
}

void write_lab_tables(const CaptureResult& result, const lab::ConductOutcome& outcome,
                      const network::NetPlan& plan, result::RunFolder& folder) {
  if (result.traffic.totals.packets > 0) write_tables(result, folder);
  write_links(outcome, plan, folder);
  write_samples(outcome, plan, folder);
  write_load(outcome, folder);
}

nlohmann::ordered_json lab_document(std::string_view command, const CaptureResult& result,
                                    const lab::ConductOutcome& outcome,
                                    const lab::ConductRequest& request,
                                    const std::vector<RunCheck>& checks) {
  nlohmann::ordered_json document =
      result.traffic.totals.packets > 0
          ? capture_document(command, result)
          : nlohmann::ordered_json{{"schema", result::kSchema}, {"command", command}};
  document["engine"] = testbed::name_of(request.engine);
  document["checks"] = checks_document(checks);
  document["network"] = {{"links", links_document(request.plan, outcome.network)},
                         {"paths", paths_document(request.plan, outcome.network)}};
  document["cpu_bound"] = outcome.verdict.level >= watch::WatchLevel::CpuBound;
  document["machine"] = {{"level", watch::level_name(outcome.verdict.level)},
                         {"reasons", outcome.verdict.reasons}};
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const lab::RankOutcome& rank : outcome.ranks) {
    ranks.push_back({{"name", rank.label},
                     {"exit_code", rank.ending.exit_code},
                     {"signal", rank.ending.signal},
                     {"stopped", rank.stopped},
                     {"output", rank.output}});
  }
  document["ranks"] = ranks;
  document["duration_s"] = 1e-9 * static_cast<double>(outcome.ended_ns - outcome.started_ns);
  return document;
}

void show_failure(const lab::ConductOutcome& outcome, Streams streams) {
  for (const lab::RankOutcome& rank : outcome.ranks) {
    if (rank.ending.succeeded() || rank.stopped) continue;
    fmt::print(streams.err, "{} {}; its last lines ({}):\n", rank.label, os::describe(rank.ending),
               rank.output);
    for (const std::string& line : lab::last_lines(rank.output, kLastLines)) {
      fmt::print(streams.err, "  {}\n", printable(line));
    }
    return;
  }
}

void remove_captures(const lab::ConductOutcome& outcome) {
  for (const capture::LiveResult& capture : outcome.captures) {
    std::error_code ignored;
    std::filesystem::remove(capture.file, ignored);
  }
}

}  // namespace tw::cli
