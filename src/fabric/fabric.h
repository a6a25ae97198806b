// SPDX-License-Identifier: Apache-2.0
// A network's links in virtual time: what every packet meets on its way, port after port, without
// a clock, a socket or a kernel. Whoever uses it brings the packets and the time: the TAP engine
// (testbed/tap_switch.h) those of real programs as they come, a test or a simulator its own.
//
//   enter(host, packet, now) -> [port] -> switch -> [port] -> ... -> next_arrival(now)
//
// A port (port.h) is a line of finite rate (line.h) with a queue before it that drops what finds it
// full and marks what finds it deep, then a loss and a delay (port_model.h). Which port is next,
// the plan says (network/plan.h). Events are taken in order of time, then of ports, and all chance
// comes from the plan's seed: the same packets at the same times meet the same fate.
//
// A packet that leaves a port goes on at the time at which the port let it go, not at the later one
// at which the program came to it: lateness does not add up over the hops, only the last one shows.
//
// Limits: switches forward in no time and without limits of their own, queues are first come first
// served, and a wire packet passes a switch whole (store and forward). Nothing here sends again
// what was lost: that is the business of who sends.

#pragma once

#include "trainwire/fabric/port.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tw::fabric {

/// A packet that may be handed to its host now.
struct Arrival {
  int host = 0;
  int port = 0;  ///< the last one
  Frame frame;
};

class Fabric {
 public:
  /// All must outlive it. `host_queues`: where packets wait for a host's own line; in the kernel
  /// for the TAP engine, here for senders that are in virtual time themselves.
  /// REQUIRES: counters.size() == plan.ports.size().
  Fabric(const network::NetPlan& plan, std::span<PortCounters> counters, BufferPool& pool,
         VirtualPort::Queue host_queues = VirtualPort::Queue::InKernel);

  /// A host sends a packet. One that is for itself, for nobody here or too short is forgotten.
  void enter(int host, Buffer packet, std::int64_t now_ns);
  /// A host sends what there is no memory for: counted as dropped.
  void refuse(int host, std::span<const std::uint8_t> packet);

  /// Moves what is due by `now_ns`, in time order, until a packet reaches its host.
  std::optional<Arrival> next_arrival(std::int64_t now_ns);
  /// When something has to be moved again.
  std::optional<std::int64_t> next_ns() const;

 private:
  /// Time of a port's next frame, and the port.
  using Event = std::pair<std::int64_t, int>;

  int hosts() const { return static_cast<int>(plan_.hosts.size()); }
  VirtualPort& port(int number) { return ports_[static_cast<std::size_t>(number)]; }
  void address(Frame& frame, int from) const;
  void forward(Frame frame, int node);
  void arrive(int port_number, Frame frame);

  const network::NetPlan& plan_;
  BufferPool& pool_;
  std::vector<VirtualPort> ports_;
  std::unordered_map<std::uint64_t, int> host_of_;  ///< by hardware address
  /// Exactly the ports that are not empty; earliest first, then by number.
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace tw::fabric
