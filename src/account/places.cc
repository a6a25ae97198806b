// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/places.h"

#include "trainwire/network/network.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tw::account {
namespace {

constexpr std::array kDirections = {spec::Direction::FromHost, spec::Direction::ToHost};

/// A link's rate among those of its peers.
struct Rated {
  std::string link;
  BitRate rate;
};

/// The middle one, of two the faster.
BitRate usual_rate(const std::vector<Rated>& links) {
  std::vector<BitRate> rates;
  for (const Rated& link : links) rates.push_back(link.rate);
  const auto middle = rates.begin() + std::ssize(rates) / 2;
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

void add_slower(const std::vector<Rated>& links, spec::Direction direction,
                std::vector<SlowLink>& into) {
  if (links.size() < 2) return;
  const BitRate peers = usual_rate(links);
  for (const Rated& link : links) {
    if (link.rate < peers * kSlower) into.push_back({link.link, direction, link.rate, peers});
  }
}

/// Links between switches that the file speaks of: those with an override, and the usual one.
std::vector<Rated> core_links(const spec::Network& network, spec::Direction direction) {
  std::vector<Rated> links;
  std::set<std::string> named;
  for (const spec::LinkOverride& override : network.overrides) {
    if (!spec::is_core_link(network, *override.at) || !named.insert(*override.at).second) continue;
    links.push_back({*override.at, *spec::core_link(network, *override.at, direction).rate});
  }
  return links;
}

/// How many hosts share a switch at most, and by how many links it is joined to the core.
struct Sharing {
  int hosts = 0;
  int links = 1;
};

Sharing sharing_of(const spec::Network& network) {
  const int hosts = *network.hosts;
  switch (*network.topology) {
    case spec::Topology::Star:
      return {};
    case spec::Topology::Dumbbell:
      return {.hosts = std::max(*network.left, hosts - *network.left)};
    case spec::Topology::LeafSpine:
      return {.hosts = (hosts + *network.leaves - 1) / *network.leaves, .links = *network.spines};
    case spec::Topology::FatTree:
      break;
  }
  const int half = spec::fat_tree_pods(hosts) / 2;
  return {.hosts = half, .links = half};
}

/// Hosts whose traffic another job's host beyond their switch can ask for: the job's own.
int sharing_hosts(const spec::Experiment& experiment, std::size_t job, const Sharing& sharing) {
  const int job_hosts = static_cast<int>(hosts_of(experiment, job).size());
  return std::max(1, std::min(sharing.hosts, job_hosts - 1));
}

}  // namespace

std::vector<int> hosts_of(const spec::Experiment& experiment, std::size_t job) {
  const std::vector<int> placed = spec::placement(experiment.network, experiment.jobs.at(job));
  const std::set<int> hosts(placed.begin(), placed.end());
  return {hosts.begin(), hosts.end()};
}

std::vector<SlowLink> slow_links(const spec::Experiment& experiment, std::size_t job) {
  const spec::Network& network = experiment.network;
  std::vector<SlowLink> slow;
  if (network.overrides.empty()) return slow;
  const std::vector<int> hosts = hosts_of(experiment, job);
  for (const spec::Direction direction : kDirections) {
    std::vector<Rated> links;
    for (const int host : hosts) {
      links.push_back({spec::host_name(host), *spec::host_link(network, host, direction).rate});
    }
    add_slower(links, direction, slow);
    const BitRate usual = *spec::usual_core_link(network).rate;
    for (const Rated& link : core_links(network, direction)) {
      if (link.rate < usual * kSlower) slow.push_back({link.link, direction, link.rate, usual});
    }
  }
  std::stable_sort(slow.begin(), slow.end(), [](const SlowLink& a, const SlowLink& b) {
    return a.rate / a.peers < b.rate / b.peers;
  });
  return slow;
}

std::optional<NarrowCore> narrow_core(const spec::Experiment& experiment, std::size_t job) {
  const spec::Network& network = experiment.network;
  const Sharing sharing = sharing_of(network);
  if (sharing.hosts == 0) return {};
  const BitRate rate = *network.core_rate;
  const double over = static_cast<double>(sharing_hosts(experiment, job, sharing));
  const BitRate needed =
      std::max(*network.link.rate, *network.link.rate * over / static_cast<double>(sharing.links));
  if (rate >= needed * kSlower) return {};
  return NarrowCore{.rate = rate, .needed = needed};
}

std::string place_words(const std::string& link, spec::Direction direction, bool is_core) {
  if (is_core) return link == "core" ? "the core link" : fmt::format("the link {}", link);
  return fmt::format("{}'s way {}", link, direction == spec::Direction::ToHost ? "in" : "out");
}

std::string place_name(const std::string& link, spec::Direction direction) {
  return fmt::format("{} {}", link, direction == spec::Direction::ToHost ? "to_host" : "from_host");
}

std::optional<LossyLink> lossiest(const spec::Experiment& experiment) {
  const spec::Network& network = experiment.network;
  std::optional<LossyLink> most;
  for (const spec::LinkOverride& override : network.overrides) {
    if (!override.loss || override.loss->value <= 1.5 * *network.link.loss) continue;
    if (most && most->loss >= override.loss->value) continue;
    most = LossyLink{
        .link = *override.at, .direction = *override.direction, .loss = override.loss->value};
  }
  return most;
}

std::optional<FarLink> farthest(const spec::Experiment& experiment, std::size_t job) {
  const spec::Network& network = experiment.network;
  std::set<std::string> hosts;
  for (const int host : hosts_of(experiment, job)) hosts.insert(spec::host_name(host));
  std::optional<FarLink> most;
  for (const spec::LinkOverride& override : network.overrides) {
    const bool is_core = spec::is_core_link(network, *override.at);
    if (!override.delay || (!is_core && !hosts.contains(*override.at))) continue;
    const Duration others = is_core ? *network.core_delay : *network.link.delay;
    const Duration delay = override.delay->value;
    if (delay <= others || (most && most->delay >= delay)) continue;
    most = FarLink{
        .link = *override.at, .direction = *override.direction, .delay = delay, .others = others};
  }
  return most;
}

}  // namespace tw::account
