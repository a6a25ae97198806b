// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/network.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/links.h"

#include <map>

namespace tw::network {
namespace {

Request request_of(const spec::Network& network, const spec::LinkSettings& link,
                   Duration round_trip) {
  return {.rate = *link.rate,
          .delay = *link.delay,
          .jitter = *link.jitter,
          .loss = *link.loss,
          .loss_burst = *link.loss_burst,
          .queue = spec::queue_bytes(network, link, round_trip),
          .ecn = *link.ecn};
}

/// Numbers of the core links that overrides name. Only then are links walked at all.
std::map<std::string, int> core_links_named(const spec::Network& network, const Wiring& wiring) {
  std::map<std::string, int> numbers;
  for (const spec::LinkOverride& link : network.overrides) {
    if (!spec::host_number(network, *link.at)) numbers.emplace(*link.at, -1);
  }
  if (numbers.empty()) return numbers;
  for (int link = 0; link < wiring.core_links(); ++link) {
    const auto named = numbers.find(wiring.link_name(link));
    if (named != numbers.end()) named->second = link;
  }
  for (const auto& [name, link] : numbers) check(link >= 0, "overrides are about links there are");
  return numbers;
}

/// Settings of the ports that overrides are about.
std::map<int, spec::LinkSettings> overridden(const spec::Network& network, const Wiring& wiring) {
  const std::map<std::string, int> core = core_links_named(network, wiring);
  std::map<int, spec::LinkSettings> ports;
  for (const spec::LinkOverride& link : network.overrides) {
    const std::optional<int> host = spec::host_number(network, *link.at);
    const int number = host ? *host : wiring.hosts() + core.at(*link.at);
    const spec::LinkSettings usual = host ? network.link : spec::usual_core_link(network);
    for (const Direction direction : {Direction::FromHost, Direction::ToHost}) {
      const int port = 2 * number + (direction == Direction::ToHost ? 1 : 0);
      spec::apply(ports.try_emplace(port, usual).first->second, link, direction);
    }
  }
  return ports;
}

/// Of a path in a fat tree; others are shorter.
constexpr std::size_t kMostHops = 6;

/// The digit at `level` of a number written in base `base`.
int digit(int number, int level, int base) {
  for (; level > 0; --level) number /= base;
  return number % base;
}

}  // namespace

Network::Network(const spec::Network& network) : wiring_(wiring_of(network)) {
  const Duration trip = spec::longest_round_trip(network);
  host_request_ = request_of(network, network.link, trip);
  core_request_ = request_of(network, spec::usual_core_link(network), trip);
  for (const auto& [port, settings] : overridden(network, *wiring_)) {
    overridden_.emplace(port, request_of(network, settings, trip));
  }
}

std::string Network::node_name(int node) const {
  return node < hosts() ? spec::host_name(node) : wiring_->switch_name(node - hosts());
}

std::string Network::link_name(int link) const {
  return link < hosts() ? spec::host_name(link) : wiring_->link_name(link - hosts());
}

const Request& Network::request(int port) const {
  const auto special = overridden_.find(port);
  if (special != overridden_.end()) return special->second;
  return port < 2 * hosts() ? host_request_ : core_request_;
}

int Network::end_of(int port) const {
  const int link = port / 2;
  const bool upwards = port % 2 == 0;
  if (link < hosts()) return upwards ? hosts() + wiring_->switch_of(link) : link;
  const Ends ends = wiring_->ends(link - hosts());
  return hosts() + (upwards ? ends.upper : ends.lower);
}

Port Network::port(int number) const {
  const Request& asked = request(number);
  return {.link = link_name(number / 2),
          .direction = number % 2 == 0 ? Direction::FromHost : Direction::ToHost,
          .from = end_of(number ^ 1),
          .to = end_of(number),
          .rate = asked.rate,
          .delay = asked.delay,
          .jitter = asked.jitter,
          .loss = asked.loss,
          .loss_burst = asked.loss_burst,
          .queue = asked.queue,
          .ecn = asked.ecn};
}

Ways Network::ways(int node, int host) const { return wiring_->ways(node - hosts(), host); }

int Network::next_port(int node, int host, std::optional<std::uint64_t> flow_hash) const {
  check(node != host, "a host does not reach itself by a port");
  if (node < hosts()) return 2 * node;
  if (wiring_->switch_of(host) == node - hosts()) return 2 * host + 1;
  const Ways on = ways(node, host);
  const int way =
      flow_hash ? hashed_way(*flow_hash, node, on.count) : digit(host, on.level, on.count);
  const int link = hosts() + on.first + way * on.stride;
  return 2 * link + (on.direction == Direction::ToHost ? 1 : 0);
}

std::vector<int> Network::path(int from, int to, std::optional<std::uint64_t> flow_hash) const {
  std::vector<int> path;
  if (from != to) path.reserve(kMostHops);
  for (int node = from; node != to; node = end_of(path.back())) {
    path.push_back(next_port(node, to, flow_hash));
  }
  return path;
}

std::int64_t Network::path_count(int from, int to) const {
  std::int64_t count = 1;
  for (const int port : path(from, to)) {
    const int node = end_of(port);
    const bool chooses = node >= hosts() && wiring_->switch_of(to) != node - hosts();
    if (chooses) count *= ways(node, to).count;
  }
  return count;
}

std::string path_text(const Network& network, int from, const std::vector<int>& path) {
  std::string text = network.node_name(from);
  for (const int port : path) text += ">" + network.node_name(network.end_of(port));
  return text;
}

Duration round_trip(const Network& network, int a, int b) {
  Duration sum = {};
  for (const int port : network.path(a, b)) sum += network.request(port).delay;
  for (const int port : network.path(b, a)) sum += network.request(port).delay;
  return sum;
}

}  // namespace tw::network
