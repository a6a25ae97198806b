// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/plan.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tw::network {
namespace {

constexpr int kMostHosts = 1024;
/// The kernel grows a TCP buffer to twice the data in flight, and headers cost as much again.
constexpr std::int64_t kBufferPerWindow = 4;
constexpr Bytes kLeastBuffer = 6_MiB;  ///< the kernel's own default
constexpr Duration kSegmentTime = std::chrono::microseconds(125);
/// A host's own queue pushes back on its senders and drops nothing: it is as long as Linux has it. A
/// switch's has room for what is being sent and the next.
constexpr int kHostQueueFrames = 1000;
constexpr int kSwitchQueueFrames = 2;
constexpr Bytes kSmallestSegment = 6000_B;
constexpr Bytes kLargestSegment = 65536_B;

HostPlan host_plan(int host, int ip_version) {
  const int number = host + 1;
  const auto high = static_cast<std::uint8_t>(number / 256);
  const auto low = static_cast<std::uint8_t>(number % 256);
  return {.name = spec::host_name(host),
          .address = ip_version == 4 ? fmt::format("10.77.{}.{}", high, low)
                                     : fmt::format("fd77::{:x}", number),
          .mac = {0x02, 0x77, 0, 0, high, low}};
}

void write_out_ports(NetPlan& plan, const Network& network) {
  for (int number = 0; number < network.ports(); ++number) {
    Port port = network.port(number);
    const bool is_hosts_own = port.from < network.hosts();
    const int least = is_hosts_own ? kHostQueueFrames : kSwitchQueueFrames;
    port.queue = std::max(frame_bytes(plan.mtu) * least, port.queue);
    plan.ports.push_back(std::move(port));
  }
  for (int link = 0; link < network.links(); ++link) {
    const bool is_core = link >= network.hosts();
    plan.floods.push_back(!is_core || network.wiring().floods(link - network.hosts()));
  }
}

void write_out_routes(NetPlan& plan, const Network& network) {
  plan.next.assign(static_cast<std::size_t>(network.nodes()), {});
  for (int node = 0; node < network.nodes(); ++node) {
    for (int host = 0; host < network.hosts(); ++host) {
      const int port = node == host ? -1 : network.next_port(node, host);
      plan.next[static_cast<std::size_t>(node)].push_back(port);
    }
  }
}

}  // namespace

Bytes largest_window(const spec::Network& asked) {
  const Network network(asked);
  BitRate fastest;
  Bytes deepest;
  for (int port = 0; port < network.ports(); ++port) {
    fastest = std::max(fastest, network.request(port).rate);
    deepest = std::max(deepest, network.request(port).queue);
  }
  const Bytes in_flight = fastest * spec::longest_round_trip(asked) + deepest;
  return std::max(kLeastBuffer, in_flight * kBufferPerWindow);
}

Bytes largest_segment(BitRate rate) {
  return std::clamp(rate * kSegmentTime, kSmallestSegment, kLargestSegment);
}

bool NetPlan::lossy() const {
  return will_lose ||
         std::any_of(ports.begin(), ports.end(), [](const Port& port) { return port.loss > 0; });
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
  const spec::Network& asked = experiment.network;
  const Network network(asked);
  NetPlan plan;
  plan.mtu = *asked.mtu;
  plan.ip_version = *asked.ip_version;
  plan.prefix_length = plan.ip_version == 4 ? 16 : 64;
  plan.congestion_control = *asked.congestion_control;
  plan.socket_buffer = *asked.socket_buffer;
  plan.seed = *experiment.run.seed;
  plan.shallow_queues = *asked.allow_shallow_queue;
  for (const spec::Fault& fault : experiment.faults) {
    plan.breaks |=
        *fault.kind == spec::FaultKind::LinkDown || *fault.kind == spec::FaultKind::LinkFlap;
    plan.will_lose |= *fault.kind == spec::FaultKind::Loss;
  }
  for (int host = 0; host < network.hosts(); ++host) {
    plan.hosts.push_back(host_plan(host, plan.ip_version));
  }
  for (int number = 0; number < network.wiring().switches(); ++number) {
    plan.switches.push_back(network.wiring().switch_name(number));
  }
  write_out_ports(plan, network);
  write_out_routes(plan, network);
  plan.largest_window = largest_window(asked);
  return plan;
}

}  // namespace tw::network
