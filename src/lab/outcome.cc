// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/outcome.h"

#include "trainwire/summarise/describe.h"
#include "trainwire/summarise/tables.h"
#include "trainwire/testbed/choose.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace tw::lab {
namespace {

using network::NetPlan;
using summarise::CaptureResult;

void write_load(const ConductOutcome& outcome, record::RunFolder& folder) {
  result::TableFile& table = folder.table("load");
  const std::vector<watch::LoadSample>& loads = outcome.watch.loads;
  for (std::size_t i = 1; i < loads.size(); ++i) {
    const auto load = watch::load_between(outcome.watch, loads[i - 1].time_ns, loads[i].time_ns);
    if (load) table.row({loads[i].time_ns, load->busy, load->steal, load->wait});
  }
}

/// Knows flows by the endpoints they come from or go to, and sums what cross traffic sent.
class FlowOwners {
 public:
  FlowOwners(const Endpoints& endpoints,
             std::map<std::pair<std::string, std::string>, std::int64_t>& cross_bytes)
      : cross_bytes_(cross_bytes) {
    for (const auto& sink : endpoints.sinks) owners_[{sink.address, sink.port}] = kCross;
    among_others_ = endpoints.among_others;
    // All that is no cross traffic is the one job's.
    if (endpoints.ranks.size() < 2 && !among_others_) return;
    for (std::size_t job = 0; job < endpoints.ranks.size(); ++job) {
      for (const auto& rank : endpoints.ranks[job]) {
        owners_[{rank.address, rank.port}] = static_cast<int>(job);
      }
    }
  }

  void own(flow::Flow& flow, const std::vector<packet::Address>& addresses) {
    const int owner = take(flow, addresses);
    flow.cross = owner == kCross;
    if (owner >= 0) flow.job = owner;
  }

  int take(const flow::Flow& flow, const std::vector<packet::Address>& addresses) {
    if (owners_.empty()) return kNobody;
    const std::string from = addresses[flow.key.source].text();
    const std::string to = addresses[flow.key.destination].text();
    auto found = owners_.find({to, flow.key.destination_port});
    if (found == owners_.end()) found = owners_.find({from, flow.key.source_port});
    const int stranger = among_others_ ? kCross : kNobody;
    const int owner = found == owners_.end() ? stranger : found->second;
    if (owner == kCross) {
      cross_bytes_[{from, to}] += static_cast<std::int64_t>(flow.stream_bytes());
    }
    return owner;
  }

 private:
  static constexpr int kNobody = -1;
  static constexpr int kCross = -2;
  bool among_others_ = false;
  std::map<std::pair<std::string, std::uint16_t>, int> owners_;
  std::map<std::pair<std::string, std::string>, std::int64_t>& cross_bytes_;
};

}  // namespace

CaptureResult analysed(const ConductOutcome& outcome, const NetPlan& plan,
                       std::span<const summarise::KnownJob> jobs, const Endpoints& endpoints) {
  CaptureResult result;
  std::vector<std::string> files;
  for (const capture::LiveResult& capture : outcome.captures) {
    if (capture.packets > 0 && !capture.failure) files.push_back(capture.file);
  }
  result.interrupted = outcome.interrupted;
  if (files.empty()) return result;
  diagnose::AnalysisOptions how;
  for (const network::HostPlan& host : plan.hosts) how.names.emplace_back(host.address, host.name);
  gather::ReadOptions reading;
  reading.one_clock = !endpoints.own_clocks;
  FlowOwners owners(endpoints, result.cross_bytes);
  if (!endpoints.sinks.empty() || endpoints.among_others) {
    reading.retired = [&](const flow::Flow& flow, const auto& addresses) {
      owners.take(flow, addresses);
    };
  }
  result.traffic = gather::read_traffic(files, reading);
  for (flow::Flow& flow : result.traffic.flows) owners.own(flow, result.traffic.addresses);
  summarise::analyse_jobs(result, jobs, how);
  summarise::add_figures(result);
  return result;
}

std::vector<usage::Sent> sent_by(const CaptureResult& result, const NetPlan& plan) {
  std::map<std::string, int> hosts;
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    hosts[plan.hosts[i].address] = static_cast<int>(i);
  }
  const auto job_name = [&](const flow::Flow& flow) -> std::string {
    if (flow.job > 0) return result.other_jobs[static_cast<std::size_t>(flow.job - 1)].name;
    return result.job.empty() ? "job0" : result.job;  // the only one
  };
  std::vector<usage::Sent> all;
  for (const flow::Flow& flow : result.traffic.flows) {
    const auto from = hosts.find(result.traffic.addresses[flow.key.source].text());
    const auto to = hosts.find(result.traffic.addresses[flow.key.destination].text());
    if (from == hosts.end() || to == hosts.end() || from == to) continue;
    all.push_back({.by = flow.cross ? usage::kCrossTraffic : job_name(flow),
                   .from = from->second,
                   .to = to->second,
                   .bytes = static_cast<std::int64_t>(flow.wire_bytes)});
  }
  return all;
}

void write_tables(const CaptureResult& result, const ConductOutcome& outcome, const NetPlan& plan,
                  record::RunFolder& folder) {
  if (result.traffic.totals.packets > 0) summarise::write_tables(result, folder);
  usage::write_links(network_of(outcome, plan, {}), folder.table("links"));
  usage::write_samples(outcome.watch, plan, folder.table("samples"));
  write_load(outcome, folder);
}

record::Network network_of(const ConductOutcome& outcome, const NetPlan& plan,
                           usage::TimeSpan counted) {
  record::Network network = usage::described(plan, outcome.network);
  usage::count(network, plan, outcome.watch, counted);
  return network;
}

record::Run described(std::string_view command, const CaptureResult& result,
                      const ConductOutcome& outcome, const ConductRequest& request) {
  record::Run run = summarise::described(result, command);
  run.engine = std::string(testbed::name_of(request.engine));
  run.network = network_of(outcome, request.plan, {outcome.started.real_ns, outcome.ended.real_ns});
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
