// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/nearest.h"
#include "trainwire/spec/fields.h"
#include "trainwire/spec/links.h"
#include "trainwire/spec/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace tw::spec {
namespace {

constexpr int kMostHostsListed = 64;
constexpr std::size_t kLongestName = 64;  // that is compared with others
constexpr std::array kDirections{Direction::FromHost, Direction::ToHost};

bool is_numbered_host(std::string_view name) {
  return name.starts_with("host") && name.size() > 4 &&
         name.find_first_not_of("0123456789", 4) == std::string_view::npos;
}

std::string all_hosts(const Network& network) {
  const int hosts = *network.hosts;
  return hosts == 1 ? "host0 is the only one"
                    : fmt::format("there are host0 to {}", host_name(hosts - 1));
}

/// What to do about a name that is neither a host's nor one of `others`. A number too high is no
/// spelling mistake, so the nearest name would mislead there.
std::string name_remedy(const Network& network, std::string_view name,
                        std::vector<std::string> others) {
  if (is_numbered_host(name)) return all_hosts(network);
  for (int host = 0; host < std::min(*network.hosts, kMostHostsListed); ++host) {
    others.push_back(host_name(host));
  }
  const std::vector<std::string_view> known(others.begin(), others.end());
  if (const auto near = nearest(name.substr(0, kLongestName), known)) {
    return fmt::format("did you mean \"{}\"?", *near);
  }
  return all_hosts(network);
}

void resolve_topology(Network& network, keys::Section& section) {
  const int hosts = *network.hosts;
  derive(network.left, std::max(1, hosts / 2));
  derive(network.core_rate, *network.link.rate);
  derive(network.core_delay, *network.link.delay);
  if (!section.readable({"topology", "hosts", "left", "leaves"})) return;
  if (*network.topology == Topology::Dumbbell) {
    if (hosts < 2) {
      section.refuse("topology", "a dumbbell needs a host on either side; write hosts = 2 or more");
    } else if (*network.left >= hosts) {
      section.refuse("left", fmt::format("{} of {} hosts leave none on the right; write 1 to {}",
                                         *network.left, hosts, hosts - 1));
    }
  }
  if (*network.topology == Topology::LeafSpine && *network.leaves > hosts) {
    section.refuse(
        is_explicit(network.leaves) ? "leaves" : "hosts",
        fmt::format("{} leaves need as many hosts; write leaves = {} or less, or more hosts",
                    *network.leaves, hosts));
  }
}

void check_packets(const Network& network, keys::Section& section) {
  if (*network.ip_version == 5)
    section.refuse("ip_version", "5 is not a version in use; write 4 or 6");
  if (section.readable({"ip_version", "mtu"}) && *network.ip_version == 6 && *network.mtu < 1280) {
    section.refuse("mtu",
                   fmt::format("{} is too small for IPv6; write 1280 or more", *network.mtu));
  }
}

void check_marking(const Network& network, keys::Section& section) {
  if (!section.readable({"ecn", "ecn_until"}) || !*network.ecn_until) return;
  if (*network.link.ecn && **network.ecn_until < **network.link.ecn) {
    section.refuse("ecn_until", fmt::format("{} is below ecn = {}; write as much or more",
                                            exact(**network.ecn_until), exact(**network.link.ecn)));
  }
}

/// Judges explicit queues. Works through links one at a time, each with its own overrides only, so
/// that a network of many overrides is checked in time proportional to their number.
class QueueRule {
 public:
  explicit QueueRule(const Network& network)
      : network_(network), trip_(longest_round_trip(network)) {
    for (const LinkOverride& override : network.overrides) {
      of_link_[*override.at].push_back(override);
    }
    network_.overrides.clear();
  }

  void check_all(keys::Section& section) const {
    const bool has_core = *network_.topology != Topology::Star;
    const BitRate rate = *network_.link.rate;
    const BitRate highest = has_core ? std::max(rate, *network_.core_rate) : rate;
    if (std::string text = problem(network_.link.queue, highest); !text.empty()) {
      section.refuse("queue", std::move(text));
    }
  }

  void check_one(const LinkOverride& override, keys::Section& section) {
    if (!override.queue && !override.rate) return;
    network_.overrides = of_link_[*override.at];
    const std::optional<int> host = host_number(network_, *override.at);
    for (const Direction direction : kDirections) {
      if (*override.direction && **override.direction != direction) continue;
      const LinkSettings link = host ? host_link(network_, *host, direction)
                                     : core_link(network_, *override.at, direction);
      std::string text = problem(link.queue, *link.rate);
      if (!text.empty()) return section.refuse(override.queue ? "queue" : "rate", std::move(text));
    }
  }

 private:
  /// What is wrong with the queue before a link of `rate`, or "".
  std::string problem(const Setting<Queue>& queue, BitRate rate) const {
    if (*network_.allow_shallow_queue || !is_explicit(queue)) return "";
    const double needed = rate.bits_per_second() * seconds(trip_) / 8;
    const double given = std::max(queue->bytes ? static_cast<double>(queue->bytes->count()) : 0,
                                  queue->bdp.value_or(queue->bytes ? 0 : 1) * needed);
    if (given >= std::floor(needed)) return "";
    return fmt::format(
        "{:.0f} bytes are less than the delay needs: {} x {} round trip = {:.0f} bytes; write "
        "queue = "
        "\"1bdp\" or allow_shallow_queue = true",
        given, exact(rate), exact(trip_), needed);
  }

  Network network_;
  Duration trip_;
  std::map<std::string, std::vector<LinkOverride>> of_link_;
};

/// Two entries may not set the same key of the same direction of a link.
class Claims {
 public:
  bool take(const LinkOverride& override, std::string_view key) {
    bool is_free = true;
    for (const Direction direction : kDirections) {
      if (*override.direction && **override.direction != direction) continue;
      is_free = taken_.emplace(*override.at, direction, key).second && is_free;
    }
    return is_free;
  }

 private:
  std::set<std::tuple<std::string_view, Direction, std::string_view>> taken_;
};

bool is_link_setting(std::string_view key) { return key != "at" && key != "direction"; }

void claim_all(Claims& claims, const LinkOverride& override, keys::Section& section) {
  for (const Field<LinkOverride>& field : link_fields()) {
    if (!is_link_setting(field.key) || !field.held(override)) continue;
    if (claims.take(override, field.key)) continue;
    section.refuse(
        field.key,
        fmt::format("another [[network.link]] sets it for {} already; keep one", *override.at));
  }
}

void check_links(const Network& network, keys::Section& section, std::span<keys::Section> links) {
  Claims claims;
  // Which links there are depends on these; which queue is deep enough, on those.
  const bool names_known = section.readable({"hosts", "topology", "leaves", "spines"});
  // A rate that cannot be read stands at its default here, so that a shallow queue beside it is
  // found too.
  const bool needs_known = section.readable(
      {"hosts", "topology", "delay", "core_rate", "core_delay", "queue", "allow_shallow_queue"});
  QueueRule queues(network);
  if (needs_known) queues.check_all(section);
  for (std::size_t i = 0; i < links.size(); ++i) {
    const LinkOverride& override = network.overrides[i];
    keys::Section& link = links[i];
    if (!link.readable({"at", "direction"}) || !names_known) continue;
    if (override.at->empty()) {
      link.refuse("does not say which link it is about; write at = \"host0\"");
      continue;
    }
    if (const std::string problem = link_problem(network, *override.at); !problem.empty()) {
      link.refuse("at", problem);
      continue;
    }
    claim_all(claims, override, link);
    if (needs_known && link.readable({"rate", "queue"})) queues.check_one(override, link);
  }
}

}  // namespace

std::string link_problem(const Network& network, const std::string& name) {
  if (host_number(network, name) || is_core_link(network, name)) return "";
  std::vector<std::string> core_links;
  for (const char* link : {"core", "leaf0-spine0", "edge0-agg0", "agg0-core0"}) {
    if (is_core_link(network, link)) core_links.emplace_back(link);
  }
  return fmt::format("unknown link {}; {}", keys::in_quotes(name),
                     name_remedy(network, name, core_links));
}

std::string host_problem(const Network& network, std::string_view name) {
  if (host_number(network, name)) return "";
  return fmt::format("unknown host {}; {}", keys::in_quotes(name), name_remedy(network, name, {}));
}

void resolve_network(Network& network, keys::Section& section, std::span<keys::Section> links) {
  resolve_topology(network, section);
  check_packets(network, section);
  check_marking(network, section);
  check_links(network, section, links);
}

}  // namespace tw::spec
