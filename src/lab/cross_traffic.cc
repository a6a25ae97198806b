// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/cross_traffic.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace tw::lab {
namespace {

BitRate narrowest(const network::NetPlan& plan, int from, int to) {
  std::optional<BitRate> least;
  for (const int port : plan.path(from, to)) {
    const BitRate rate = plan.ports[static_cast<std::size_t>(port)].rate;
    if (!least || rate < *least) least = rate;
  }
  return *least;
}

traffic::SourceTask source_of(const load::Entry& entry, const spec::Experiment& experiment) {
  const spec::Traffic& traffic = experiment.traffic[entry.number];
  traffic::SourceTask source;
  source.kind = entry.kind;
  source.reuse = *traffic.reuse_connections;
  source.seed = *experiment.run.seed;
  source.stream = load::stream_of(entry);
  source.start = *traffic.start;
  source.duration = entry.duration;
  if (entry.kind == spec::TrafficKind::File) return source;
  source.rate = entry.payload_rate();
  source.flows = *traffic.flows;
  source.distribution = *traffic.distribution;
  source.size_scale = 1 / traffic.payload_divisor;
  source.burst_width = *traffic.burst_width;
  source.burst_height = *traffic.burst_height;
  source.period = *traffic.period;
  return source;
}

}  // namespace

std::string flows_file(const std::string& folder, std::size_t number) {
  return fmt::format("{}/traffic{}-flows.tmp", folder, number);
}

std::vector<CrossTraffic> cross_traffic(const spec::Experiment& experiment,
                                        const network::NetPlan& plan,
                                        std::span<const HostAddress> hosts,
                                        const std::string& folder) {
  std::vector<CrossTraffic> made;
  for (load::Entry& entry :
       load::entries(experiment, [&](int from, int to) { return narrowest(plan, from, to); })) {
    CrossTraffic& one = made.emplace_back();
    static_cast<load::Entry&>(one) = std::move(entry);
    const transport::tcp::Token token = transport::tcp::make_token();
    one.sink = {.address = hosts[static_cast<std::size_t>(one.to)].address, .token = token};
    one.source = source_of(one, experiment);
    one.source.address = hosts[static_cast<std::size_t>(one.from)].address;
    one.source.token = token;
    one.source.list = std::move(one.list);
    one.source.mtu = plan.mtu;
    one.source.log = flows_file(folder, made.size() - 1);
  }
  return made;
}

}  // namespace tw::lab
