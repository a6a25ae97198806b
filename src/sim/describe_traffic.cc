// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/describe_traffic.h"

#include "trainwire/result/csv.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/usage/cross_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace tw::sim {
namespace {

/// Of payload sums that are added up in another order.
constexpr double kRounding = 1e-6;
constexpr double kUnderWay = 65536;  ///< bytes of a message that ends with the jobs, in some queue

/// Whether a way takes a port that cross traffic takes.
bool is_shared(const network::Network& network, int from, int to,
               const std::vector<PlayedTraffic>& traffic) {
  const std::vector<int> way = network.path(from, to);
  return std::any_of(traffic.begin(), traffic.end(), [&](const PlayedTraffic& one) {
    if (one.entry.is_silent()) return false;
    const std::vector<int> other = network.path(one.entry.from, one.entry.to);
    return std::find_first_of(way.begin(), way.end(), other.begin(), other.end()) != way.end();
  });
}

std::vector<record::GradientPair> gradient_pairs(const network::Network& network,
                                                 const Simulated& simulated) {
  std::vector<record::GradientPair> pairs;
  for (const auto& [hosts, sending] : simulated.pairs) {
    if (hosts.first == hosts.second || sending.time <= Duration()) continue;
    pairs.push_back(
        {.from = spec::host_name(hosts.first),
         .to = spec::host_name(hosts.second),
         .sending_rate_bps = (Bytes(sending.bytes) / sending.time).bits_per_second(),
         .shares_a_link = is_shared(network, hosts.first, hosts.second, simulated.traffic)});
  }
  return pairs;
}

/// Payload bytes that came to a host, at least and at most.
struct Bounds {
  double least = 0;
  double most = 0;
  double on_the_way = 0;  ///< carried by its link, and perhaps not there when all ends
};

/// Bytes that a path holds at the rate of its last link.
double held_by(const network::Network& network, const std::vector<int>& path) {
  double way_s = 0;
  for (const int port : path) way_s += seconds(network.request(port).delay);
  return way_s * network.request(path.back()).rate.bits_per_second() / 8;
}

/// Of hosts that cross traffic goes to.
std::map<int, Bounds> bounds_of(const network::Network& network, const Simulated& simulated) {
  std::map<int, Bounds> bounds;
  for (const PlayedTraffic& one : simulated.traffic) {
    if (!one.outcome) continue;
    Bounds& into = bounds[one.entry.to];
    into.least += static_cast<double>(one.outcome->acknowledged.count());
    into.most += static_cast<double>(one.outcome->sent.count());
    const std::vector<int> path = network.path(one.entry.from, one.entry.to);
    if (!path.empty()) into.on_the_way = std::max(into.on_the_way, held_by(network, path));
  }
  for (const SimulatedJob& job : simulated.jobs) {
    for (const auto& [pair, bytes] : job.bytes) {
      const auto& layout = job.training.arrangement.layout;
      const auto found = bounds.find(layout.host(pair.second));
      if (found == bounds.end() || layout.host(pair.first) == found->first) continue;
      // Where switches sum, a link has one sum instead of several ranks' bytes.
      if (!job.in_network) found->second.least += static_cast<double>(bytes);
      found->second.most += static_cast<double>(bytes);
    }
  }
  return bounds;
}

bool anything_was_sent_twice(const Simulated& simulated) {
  return simulated.groups.resent > 0 ||
         std::any_of(simulated.ports.begin(), simulated.ports.end(),
                     [](const medium::PortFigures& port) { return port.lost + port.dropped > 0; });
}

}  // namespace

record::CrossTraffic described_traffic(const network::Network& network,
                                       const Simulated& simulated) {
  std::vector<record::TrafficEntry> entries;
  for (const PlayedTraffic& one : simulated.traffic) {
    entries.push_back(usage::described(one.entry, one.outcome));
  }
  return usage::described(std::move(entries), gradient_pairs(network, simulated));
}

record::Check traffic_check(const network::Network& network, const Simulated& simulated) {
  Bounds sum;
  double carried = 0;
  std::string first;
  const bool again = anything_was_sent_twice(simulated);
  for (const auto& [host, bounds] : bounds_of(network, simulated)) {
    const int port = network.path(host == 0 ? 1 : 0, host).back();
    const double seen = simulated.ports[static_cast<std::size_t>(port)].payload_bytes;
    sum.least += bounds.least;
    sum.most += bounds.most;
    carried += seen;
    const double slack = kUnderWay + kRounding * bounds.most + bounds.on_the_way;
    if (seen >= bounds.least - slack && (again || seen <= bounds.most + slack)) continue;
    first = fmt::format("into {}: {:.0f} bytes were sent, {:.0f} came, the link carried {:.0f}",
                        spec::host_name(host), bounds.most, bounds.least, seen);
  }
  return {
      .name = "traffic",
      .ok = first.empty(),
      .expected = fmt::format("{:.0f} to {:.0f} bytes by sources and ranks", sum.least, sum.most),
      .found = fmt::format("{:.0f} bytes on the links", carried),
      .text = first.empty() ? "links carried the cross traffic that the sources tell of" : first};
}

void write_cross_flows(const Simulated& simulated, record::RunFolder& folder) {
  if (simulated.traffic.empty()) return;
  result::TableFile& table = folder.table("cross_flows");
  for (std::size_t i = 0; i < simulated.traffic.size(); ++i) {
    for (const CrossFlow& flow : simulated.traffic[i].flows) {
      table.row({i, flow.number, flow.start.count(), (flow.start - flow.due).count(), flow.bytes,
                 flow.end ? result::Cell(flow.end->count()) : result::Cell(), flow.acknowledged});
    }
  }
}

}  // namespace tw::sim
