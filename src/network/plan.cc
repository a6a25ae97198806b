// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/plan.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::network {
namespace {

using spec::Direction;
using spec::Topology;

constexpr int kMostHosts = 1024;
/// The kernel grows a TCP buffer to twice the data in flight, and headers cost as much again.
constexpr std::int64_t kBufferPerWindow = 4;
constexpr Bytes kLeastBuffer = 6_MiB;  ///< the kernel's own default

/// Lays out one experiment's network, link by link.
class Layout {
 public:
  explicit Layout(const spec::Experiment& experiment)
      : network_(experiment.network), hosts_(*network_.hosts) {
    plan_.mtu = *network_.mtu;
    plan_.ip_version = *network_.ip_version;
    plan_.prefix_length = plan_.ip_version == 4 ? 16 : 64;
    plan_.congestion_control = *network_.congestion_control;
    plan_.socket_buffer = *network_.socket_buffer;
    plan_.seed = *experiment.run.seed;
  }

  NetPlan make() && {
    add_hosts();
    add_switches();
    plan_.next.assign(static_cast<std::size_t>(hosts_) + plan_.switches.size(),
                      std::vector<int>(static_cast<std::size_t>(hosts_), -1));
    add_host_links();
    if (*network_.topology == Topology::Dumbbell) route_dumbbell();
    if (*network_.topology == Topology::LeafSpine) route_leaf_spine();
    plan_.largest_window = largest_window();
    return std::move(plan_);
  }

 private:
  void add_hosts() {
    for (int i = 0; i < hosts_; ++i) {
      const int number = i + 1;
      const std::string address = plan_.ip_version == 4
                                      ? fmt::format("10.77.{}.{}", number / 256, number % 256)
                                      : fmt::format("fd77::{:x}", number);
      const auto high = static_cast<std::uint8_t>(number / 256);
      const auto low = static_cast<std::uint8_t>(number % 256);
      plan_.hosts.push_back(
          {.name = spec::host_name(i), .address = address, .mac = {0x02, 0x77, 0, 0, high, low}});
    }
  }

  void add_switches() {
    switch (*network_.topology) {
      case Topology::Star:
        plan_.switches = {"switch"};
        return;
      case Topology::Dumbbell:
        plan_.switches = {"left", "right"};
        return;
      case Topology::LeafSpine:
        for (int i = 0; i < *network_.leaves; ++i)
          plan_.switches.push_back(fmt::format("leaf{}", i));
        for (int i = 0; i < *network_.spines; ++i)
          plan_.switches.push_back(fmt::format("spine{}", i));
        return;
      case Topology::FatTree:
        throw SpecError(
            "network.topology: a fattree cannot be emulated; use star, dumbbell or leafspine here, "
            "or simulate it");
    }
  }

  /// Node of the switch that a host hangs on.
  int switch_of(int host) const {
    switch (*network_.topology) {
      case Topology::Dumbbell:
        return hosts_ + (host < *network_.left ? 0 : 1);
      case Topology::LeafSpine:
        return hosts_ + host * *network_.leaves / hosts_;
      default:
        return hosts_;
    }
  }

  /// Both directions of a link; returns the number of the one that leaves `lower`.
  int add_link(const std::string& name, int lower, int upper) {
    const int first = static_cast<int>(plan_.ports.size());
    const bool is_core = lower >= hosts_;
    for (const Direction direction : {Direction::FromHost, Direction::ToHost}) {
      const spec::LinkSettings settings = is_core ? spec::core_link(network_, name, direction)
                                                  : spec::host_link(network_, lower, direction);
      const bool up = direction == Direction::FromHost;
      plan_.ports.push_back(
          port(settings, name, direction, up ? lower : upper, up ? upper : lower));
    }
    return first;
  }

  Port port(spec::LinkSettings settings, const std::string& name, Direction direction, int from,
            int to) const {
    const Bytes least = frame_bytes(plan_.mtu) * 2;
    return {.link = name,
            .direction = direction,
            .from = from,
            .to = to,
            .rate = *settings.rate,
            .delay = *settings.delay,
            .jitter = *settings.jitter,
            .loss = *settings.loss,
            .loss_burst = *settings.loss_burst,
            .queue = std::max(least, spec::queue_bytes(network_, settings)),
            .ecn = *settings.ecn};
  }

  int& next(int node, int host) {
    return plan_.next[static_cast<std::size_t>(node)][static_cast<std::size_t>(host)];
  }

  void add_host_links() {
    for (int host = 0; host < hosts_; ++host) {
      const int up = add_link(spec::host_name(host), host, switch_of(host));
      for (int other = 0; other < hosts_; ++other) {
        if (other != host) next(host, other) = up;
      }
      next(switch_of(host), host) = up + 1;
    }
  }

  void route_dumbbell() {
    const int core = add_link("core", hosts_, hosts_ + 1);
    for (int host = 0; host < hosts_; ++host) {
      const bool is_left = switch_of(host) == hosts_;
      next(is_left ? hosts_ + 1 : hosts_, host) = is_left ? core + 1 : core;
    }
  }

  void route_leaf_spine() {
    const int leaves = *network_.leaves;
    for (int spine = 0; spine < *network_.spines; ++spine) {
      for (int leaf = 0; leaf < leaves; ++leaf) {
        const int up = add_link(fmt::format("leaf{}-spine{}", leaf, spine), hosts_ + leaf,
                                hosts_ + leaves + spine);
        route_core_link(leaf, spine, up);
      }
    }
  }

  void route_core_link(int leaf, int spine, int up) {
    for (int host = 0; host < hosts_; ++host) {
      const bool is_below = switch_of(host) == hosts_ + leaf;
      if (is_below) next(hosts_ + *network_.leaves + spine, host) = up + 1;
      if (!is_below && host % *network_.spines == spine) next(hosts_ + leaf, host) = up;
    }
  }

  Bytes largest_window() const {
    BitRate fastest;
    for (const Port& p : plan_.ports) fastest = std::max(fastest, p.rate);
    Bytes deepest;
    for (const Port& p : plan_.ports) deepest = std::max(deepest, p.queue);
    const Bytes in_flight = fastest * spec::longest_round_trip(network_) + deepest;
    return std::max(kLeastBuffer, in_flight * kBufferPerWindow);
  }

  const spec::Network& network_;
  int hosts_;
  NetPlan plan_;
};

}  // namespace

bool NetPlan::lossy() const {
  return std::any_of(ports.begin(), ports.end(), [](const Port& port) { return port.loss > 0; });
}

int NetPlan::next_port(int from, int to) const {
  check(from != to, "a host does not reach itself by a port");
  return next.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
}

std::vector<int> NetPlan::path(int from, int to) const {
  std::vector<int> path;
  for (int node = from; node != to; node = ports[static_cast<std::size_t>(path.back())].to) {
    path.push_back(next_port(node, to));
  }
  return path;
}

NetPlan make_plan(const spec::Experiment& experiment) {
  if (*experiment.network.hosts > kMostHosts) {
    throw SpecError(fmt::format("network.hosts: {} hosts are too many to emulate; at most {}",
                                *experiment.network.hosts, kMostHosts));
  }
  return Layout(experiment).make();
}

}  // namespace tw::network
