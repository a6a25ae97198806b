// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/fabric.h"

#include "trainwire/base/error.h"

#include <map>

namespace tw::fabric {
namespace {

constexpr std::size_t kEthernet = 14;
constexpr int kNobody = -1;

std::uint64_t number_of(std::span<const std::uint8_t> mac) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : mac) number = number << 8 | byte;
  return number;
}

}  // namespace

Fabric::Fabric(const network::NetPlan& plan, std::span<PortCounters> counters, BufferPool& pool,
               VirtualPort::Queue host_queues)
    : plan_(plan), pool_(pool) {
  check(counters.size() == plan.ports.size(), "each port has its counters");
  ports_.reserve(plan.ports.size());
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    const bool is_own = plan.ports[i].from < hosts();
    ports_.emplace_back(plan.ports[i], is_own ? host_queues : VirtualPort::Queue::Here, plan.seed,
                        counters[i], pool);
  }
  for (int i = 0; i < hosts(); ++i) {
    host_of_[number_of(plan.hosts[static_cast<std::size_t>(i)].mac)] = i;
  }
}

void Fabric::enter(int host, Buffer packet, std::int64_t now_ns) {
  if (packet.size() < kOffloadBytes + kEthernet) return;
  Frame frame{.packet = std::move(packet), .segments = {}, .time_ns = now_ns};
  frame.segments = describe(frame.packet.bytes());
  address(frame, host);
  // A host's own port is the same for every destination, so a multicast passes it once.
  if (frame.to != kNobody) arrive(plan_.next_port(host, frame.to), std::move(frame));
}

void Fabric::refuse(int host, std::span<const std::uint8_t> packet) {
  const int other = host == 0 ? 1 : 0;
  if (hosts() > 1) port(plan_.next_port(host, other)).refuse(describe(packet));
}

std::optional<Arrival> Fabric::next_arrival(std::int64_t now_ns) {
  while (!events_.empty() && events_.top().first <= now_ns) {
    const int number = events_.top().second;
    events_.pop();
    Frame frame = port(number).leave();
    if (!port(number).empty()) events_.emplace(port(number).next_ns(), number);
    const int node = plan_.ports[static_cast<std::size_t>(number)].to;
    if (node < hosts()) return Arrival{.host = node, .port = number, .frame = std::move(frame)};
    forward(std::move(frame), node);
  }
  return std::nullopt;
}

std::optional<std::int64_t> Fabric::next_ns() const {
  if (events_.empty()) return std::nullopt;
  return events_.top().first;
}

/// Fills in who gets the frame: one host, or for a group (lowest bit of the address) all others.
void Fabric::address(Frame& frame, int from) const {
  const std::span<const std::uint8_t> mac = frame.packet.bytes().subspan(kOffloadBytes, 6);
  frame.to = kNobody;
  if ((mac[0] & 1) == 0) {
    const auto found = host_of_.find(number_of(mac));
    if (found != host_of_.end() && found->second != from) frame.to = found->second;
    return;
  }
  for (int host = 0; host < hosts(); ++host) {
    if (host == from) continue;
    if (frame.to != kNobody) frame.also.push_back(frame.to);
    frame.to = host;
  }
}

/// One copy for each port that leads to some of the frame's hosts.
void Fabric::forward(Frame frame, int node) {
  if (frame.also.empty()) {
    arrive(plan_.next_port(node, frame.to), std::move(frame));
    return;
  }
  std::map<int, std::vector<int>> by_port;
  by_port[plan_.next_port(node, frame.to)].push_back(frame.to);
  for (const int host : frame.also) by_port[plan_.next_port(node, host)].push_back(host);
  for (auto& [number, hosts] : by_port) {
    std::optional<Buffer> copy = pool_.copy(frame.packet.bytes());
    if (!copy) {
      port(number).refuse(frame.segments);
      continue;
    }
    const int to = hosts.back();
    hosts.pop_back();
    arrive(number, {.packet = *std::move(copy),
                    .segments = frame.segments,
                    .to = to,
                    .also = std::move(hosts),
                    .time_ns = frame.time_ns,
                    .spacing_ns = frame.spacing_ns});
  }
}

void Fabric::arrive(int port_number, Frame frame) {
  VirtualPort& reached = port(port_number);
  const bool was_empty = reached.empty();
  reached.arrive(std::move(frame));
  if (was_empty && !reached.empty()) events_.emplace(reached.next_ns(), port_number);
}

}  // namespace tw::fabric
