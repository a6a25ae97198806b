// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/links.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

namespace tw::spec {
namespace {

constexpr double kLargestQueue = 0x1p50;  // 1 PiB
/// Of a queue that was made smaller by scaling: TCP sends several packets at once.
constexpr int kPacketsOfASwitch = 20;
constexpr int kEthernetHeader = 14;

struct Ends {
  int lower;
  int upper;
};

/// "leaf1-spine0" as the numbers of its two switches.
std::optional<Ends> ends_of(std::string_view name, std::string_view lower, std::string_view upper) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return {};
  const auto a = number_after(lower, name.substr(0, dash));
  const auto b = number_after(upper, name.substr(dash + 1));
  if (!a || !b) return {};
  return Ends{*a, *b};
}

/// Pods of k/2 edge and k/2 aggregation switches; aggregation switch a of every pod reaches the
/// cores a*k/2 .. a*k/2 + k/2-1 (Al-Fares et al. 2008, 10.1145/1402958.1402967).
bool is_fat_tree_link(const Network& network, std::string_view name) {
  const int half = fat_tree_pods(*network.hosts) / 2;
  const int switches = 2 * half * half;  // edge switches, and as many aggregation switches
  if (const auto ends = ends_of(name, "edge", "agg")) {
    return ends->lower < switches && ends->upper < switches &&
           ends->lower / half == ends->upper / half;
  }
  if (const auto ends = ends_of(name, "agg", "core")) {
    return ends->lower < switches && ends->upper < half * half &&
           ends->lower % half == ends->upper / half;
  }
  return false;
}

bool is_leaf_spine_link(const Network& network, std::string_view name) {
  const auto ends = ends_of(name, "leaf", "spine");
  return ends && ends->lower < *network.leaves && ends->upper < *network.spines;
}

template <typename T>
void replace(Setting<T>& setting, const std::optional<Setting<T>>& with) {
  if (with) setting = *with;
}

bool is_about(const LinkOverride& override, Direction direction) {
  return !*override.direction || **override.direction == direction;
}

LinkSettings overridden(LinkSettings link, const Network& network, std::string_view at,
                        Direction direction) {
  for (const LinkOverride& override : network.overrides) {
    if (*override.at == at) apply(link, override, direction);
  }
  return link;
}

/// One way and back over a link: the sum of both directions' delays.
using BothWays = std::array<Duration, 2>;

Duration total(const BothWays& ways) { return ways[0] + ways[1]; }

void override_delay(BothWays& ways, const LinkOverride& override) {
  if (!override.delay) return;
  for (const Direction direction : {Direction::FromHost, Direction::ToHost}) {
    if (is_about(override, direction)) ways[static_cast<std::size_t>(direction)] = **override.delay;
  }
}

/// Over the links of the two hosts that have the slowest ones.
Duration host_links_round_trip(const Network& network) {
  const BothWays usual{*network.link.delay, *network.link.delay};
  std::map<int, BothWays> special;
  for (const LinkOverride& override : network.overrides) {
    if (const auto host = host_number(network, *override.at)) {
      override_delay(special.try_emplace(*host, usual).first->second, override);
    }
  }
  std::vector<Duration> slowest;
  for (const auto& [host, ways] : special) slowest.push_back(total(ways));
  const int others = *network.hosts - static_cast<int>(special.size());
  // A single host talks to one like itself.
  slowest.insert(slowest.end(), static_cast<std::size_t>(std::clamp(others, 0, 2)), total(usual));
  if (slowest.size() == 1) slowest.push_back(slowest.front());
  std::partial_sort(slowest.begin(), slowest.begin() + 2, slowest.end(), std::greater<>());
  return slowest[0] + slowest[1];
}

/// Core links between the two hosts farthest apart, one way.
int core_hops(const Network& network) {
  const int hosts = *network.hosts;
  switch (*network.topology) {
    case Topology::Star:
      return 0;
    case Topology::Dumbbell:
      return 1;
    case Topology::LeafSpine:
      return *network.leaves > 1 && hosts > 1 ? 2 : 0;
    case Topology::FatTree: {
      const int half = fat_tree_pods(hosts) / 2;
      return hosts <= half ? 0 : hosts <= half * half ? 2 : 4;
    }
  }
  check(false, "every topology has its paths");
  return 0;
}

Duration core_round_trip(const Network& network) {
  BothWays ways{*network.core_delay, *network.core_delay};
  if (*network.topology == Topology::Dumbbell) {
    for (const LinkOverride& override : network.overrides) {
      if (*override.at == "core") override_delay(ways, override);
    }
  }
  return core_hops(network) * total(ways);
}

}  // namespace

/// The number behind `prefix`, written as we write it: no sign, no leading zeros.
std::optional<int> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  int number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, number);
  const bool is_plain = !name.empty() && name[0] != '-' && (name[0] != '0' || name.size() == 1);
  if (error != std::errc() || rest != end || !is_plain) return {};
  return number;
}

LinkSettings host_link(const Network& network, int host, Direction direction) {
  return overridden(network.link, network, host_name(host), direction);
}

LinkSettings core_link(const Network& network, std::string_view name, Direction direction) {
  check(is_core_link(network, name), "the core link exists");
  return overridden(usual_core_link(network), network, name, direction);
}

LinkSettings usual_core_link(const Network& network) {
  LinkSettings link = network.link;
  link.rate = network.core_rate;
  link.delay = network.core_delay;
  return link;
}

void apply(LinkSettings& link, const LinkOverride& override, Direction direction) {
  if (!is_about(override, direction)) return;
  replace(link.rate, override.rate);
  replace(link.delay, override.delay);
  replace(link.jitter, override.jitter);
  replace(link.loss, override.loss);
  replace(link.loss_burst, override.loss_burst);
  replace(link.queue, override.queue);
  replace(link.ecn, override.ecn);
}

bool is_core_link(const Network& network, std::string_view name) {
  switch (*network.topology) {
    case Topology::Star:
      return false;
    case Topology::Dumbbell:
      return name == "core";
    case Topology::LeafSpine:
      return is_leaf_spine_link(network, name);
    case Topology::FatTree:
      return is_fat_tree_link(network, name);
  }
  return false;
}

int fat_tree_pods(int hosts) {
  std::int64_t k = 2;
  while (k * k * k / 4 < hosts) k += 2;
  return static_cast<int>(k);
}

Duration longest_round_trip(const Network& network) {
  return host_links_round_trip(network) + core_round_trip(network);
}

Bytes queue_bytes(const Network& network, const LinkSettings& link) {
  return queue_bytes(network, link, longest_round_trip(network));
}

Bytes queue_bytes(const Network& network, const LinkSettings& link, Duration longest_round_trip) {
  if (link.queue->bytes && !link.queue->bdp) return *link.queue->bytes;
  const double product = link.rate->bits_per_second() * seconds(longest_round_trip) / 8;
  const double bytes = std::min(link.queue->bdp.value_or(1) * product, kLargestQueue);
  const int packets = link.queue->bytes ? kPacketsOfASwitch : 2;
  const Bytes least = Bytes(packets * (*network.mtu + kEthernetHeader));
  return std::max({least, link.queue->bytes.value_or(Bytes(0)), Bytes(std::llround(bytes))});
}

}  // namespace tw::spec
