// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/port_source.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tw::testbed {
namespace {

using watch::LinkCounters;
using watch::PortCounts;

/// By port: which of the devices sends what it carries; nothing when user space does.
struct Devices {
  std::vector<watch::WatchedLink> links = {};
  std::vector<std::optional<std::size_t>> of_port = {};
};

/// Hosts' devices first, in the order of hosts.
Devices devices_of(const Cluster& cluster) {
  Devices devices;
  const auto hosts = static_cast<int>(cluster.plan().hosts.size());
  for (int host = 0; host < hosts; ++host) {
    devices.links.push_back({.network = cluster.host(host), .name = kHostDevice});
  }
  for (int port = 0; port < static_cast<int>(cluster.plan().ports.size()); ++port) {
    const bool leaves_host = port < 2 * hosts && port % 2 == 0;
    const std::string name = leaves_host ? std::string() : cluster.device_of(port);
    if (leaves_host) {
      devices.of_port.emplace_back(static_cast<std::size_t>(port / 2));
    } else if (name.empty()) {
      devices.of_port.emplace_back();
    } else {
      devices.of_port.emplace_back(devices.links.size());
      devices.links.push_back({.network = cluster.switches(), .name = name});
    }
  }
  return devices;
}

PortCounts sent_by(const LinkCounters& device) {
  return {.packets = device.sent_packets,
          .bytes = device.sent_bytes,
          .dropped = device.queue_dropped,
          .queue_bytes = device.queue_bytes};
}

class PortReader {
 public:
  PortReader(const Cluster& cluster, Depths depths)
      : cluster_(cluster),
        depths_(depths),
        devices_(devices_of(cluster)),
        reader_(devices_.links),
        counters_(devices_.links.size()) {}

  void read(std::span<PortCounts> into) {
    reader_.read(counters_);
    const std::size_t hosts = cluster_.plan().hosts.size();
    for (std::size_t port = 0; port < into.size(); ++port) {
      fabric::PortCounters& engine = cluster_.counters().ports()[port];
      const std::optional<std::size_t> device = devices_.of_port[port];
      into[port] = device ? sent_by(counters_[*device]) : passed(engine);
      into[port].lost = engine.lost.load(std::memory_order_relaxed);
      into[port].marked = engine.marked.load(std::memory_order_relaxed);
      if (port >= 2 * hosts || port % 2 == 0) continue;
      into[port].packets = counters_[port / 2].received_packets;
      into[port].bytes = counters_[port / 2].received_bytes;
    }
  }

 private:
  /// What an engine's port has sent, and what at most waited there since the last look.
  PortCounts passed(fabric::PortCounters& port) const {
    const std::uint64_t dropped = port.dropped.load(std::memory_order_relaxed);
    return {.packets = port.packets.load(std::memory_order_relaxed) - dropped,
            .bytes = port.bytes.load(std::memory_order_relaxed) -
                     port.dropped_bytes.load(std::memory_order_relaxed),
            .dropped = dropped,
            .queue_bytes = depths_ == Depths::Take
                               ? port.deepest.exchange(0, std::memory_order_relaxed)
                               : port.deepest.load(std::memory_order_relaxed)};
  }

  const Cluster& cluster_;
  Depths depths_;
  Devices devices_;
  watch::CounterReader reader_;
  std::vector<LinkCounters> counters_;
};

}  // namespace

watch::PortSource port_source(const Cluster& cluster, Depths depths) {
  const auto reader = std::make_shared<PortReader>(cluster, depths);
  return {.ports = cluster.plan().ports.size(),
          .read = [reader](std::span<PortCounts> into) { reader->read(into); }};
}

}  // namespace tw::testbed
