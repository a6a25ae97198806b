// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/cluster.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/namespace.h"
#include "trainwire/testbed/hold.h"
#include "trainwire/testbed/links.h"
#include "trainwire/testbed/netem.h"
#include "trainwire/testbed/tap_switch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tw::testbed {
namespace {

using spec::Direction;
using spec::Engine;

constexpr const char* kNoAddress = "1";  // of addr_gen_mode: none that nobody asked for

/// Devices tell their multicast groups again and again after they came up; what is counted later is
/// to be the program's packets. Addresses are only those of the plan, and the groups are told at
/// once.
void quieten_ipv6() {
  const std::string device = fmt::format("net/ipv6/conf/{}/", kHostDevice);
  set_sysctl(device + "addr_gen_mode", kNoAddress);
  set_sysctl(device + "mldv1_unsolicited_report_interval", "1");
  set_sysctl(device + "mldv2_unsolicited_report_interval", "1");
}

/// Waits until the engine says that it works, or ends.
void wait_until_ready(const os::FileDescriptor& ready, os::Child& engine) {
  std::array<std::byte, 1> word = {};
  if (os::read_some(ready, word) == 1) return;
  const auto ending = engine.wait_for(std::chrono::seconds(5));
  throw SystemError(
      fmt::format("starting the network's engine: it {}; trainwire doctor says what "
                  "this machine can do",
                  ending ? os::describe(*ending) : "does not answer"));
}

bool marks_any(const network::NetPlan& plan) {
  return std::any_of(plan.ports.begin(), plan.ports.end(),
                     [](const network::Port& port) { return port.ecn.has_value(); });
}

/// In the calling thread's namespace.
void set_up_tcp(const network::NetPlan& plan) {
  const Bytes most = plan.socket_buffer.value_or(plan.largest_window);
  const Bytes start = plan.socket_buffer.value_or(128_KiB);
  const auto three = fmt::format("4096 {} {}", start.count(), most.count());
  set_sysctl("net/ipv4/tcp_rmem", three);
  set_sysctl("net/ipv4/tcp_wmem", three);
  // Connections of one run do not learn from earlier ones.
  set_sysctl("net/ipv4/tcp_no_metrics_save", "1");
  // Where packets are marked, connections ask for it: by themselves they only agree to be asked.
  if (marks_any(plan)) set_sysctl("net/ipv4/tcp_ecn", "1");
}

network::Mac port_mac(int device) {
  return {0x02,
          0x78,
          0,
          0,
          static_cast<std::uint8_t>(device / 256),
          static_cast<std::uint8_t>(device % 256)};
}

}  // namespace

void require_possible(const network::NetPlan& plan, Engine engine) {
  if (engine != Engine::Tap && marks_any(plan)) {
    throw SpecError("network.ecn: only the tap engine marks packets; set network.engine = \"tap\"");
  }
  if (engine == Engine::Netem) require_netem_can(plan);
}

Cluster::Cluster(network::NetPlan plan, Engine engine)
    : plan_(std::move(plan)),
      engine_(engine),
      counters_(plan_.ports.size()),
      switches_(os::make_network_namespace()),
      device_names_(plan_.ports.size()) {
  check(engine != Engine::Auto, "the engine has been chosen");
  require_possible(plan_, engine);
  for (std::size_t i = 0; i < plan_.hosts.size(); ++i)
    hosts_.push_back(os::make_network_namespace());
  if (engine_ != Engine::Tap) build_switches();
  for (int host = 0; host < static_cast<int>(hosts_.size()); ++host) set_up_host(host);
  if (engine_ == Engine::Tap) start_tap();
  if (engine_ == Engine::Nfqueue) start_hold();
}

Cluster::~Cluster() {
  engine_process_.stop = {};
  engine_process_.child.wait_for(std::chrono::milliseconds(500));
}

const os::FileDescriptor& Cluster::host(int number) const {
  return hosts_.at(static_cast<std::size_t>(number));
}

std::string Cluster::device_of(int port) const {
  return device_names_.at(static_cast<std::size_t>(port));
}

void Cluster::alter(int number, const Change& change) {
  const auto at = static_cast<std::size_t>(number);
  fabric::PortOrders& orders = counters_.ports()[at].orders;
  const double rate_bps = change.rate ? change.rate->bits_per_second() : 0;
  const bool same_rate = orders.rate_bps.exchange(rate_bps) == rate_bps;
  const bool same_loss = orders.loss.exchange(change.loss) == change.loss;
  const bool leaves_host = at < 2 * hosts_.size() && number % 2 == 0;
  const std::string device = leaves_host ? kHostDevice : device_of(number);
  if (device.empty()) return;  // user space reads its orders
  const os::InNetwork inside(leaves_host ? hosts_[at / 2] : switches_);
  Links links;
  network::Port port = plan_.ports[at];
  if (change.rate) port.rate = *change.rate;
  const bool whole_packets = plan_.lossy() && engine_ != Engine::Tap;
  if (!same_rate) links.shape(device, bucket_for(port, plan_.mtu, whole_packets));
  if (!same_loss && engine_ == Engine::Netem) lose_more(links, plan_, number, device, change.loss);
}

void Cluster::build_switches() {
  const os::InNetwork inside(switches_);
  Links links;
  if (plan_.ip_version == 4) set_sysctl("net/ipv6/conf/default/disable_ipv6", "1");
  if (plan_.ip_version == 6) set_sysctl("net/ipv6/conf/default/addr_gen_mode", kNoAddress);
  for (const std::string& name : plan_.switches) links.make_bridge(name);
  const auto hosts = static_cast<int>(hosts_.size());
  for (int host = 0; host < hosts; ++host) join_host(host);
  for (int port = 2 * hosts; port < static_cast<int>(plan_.ports.size()); port += 2)
    join_core(port);
  // What a switch sends to a host takes the device of the next port of its path.
  for (const SwitchDevice& device : devices_) {
    std::vector<network::Mac> reached;
    for (int host = 0; host < hosts; ++host) {
      const auto at = static_cast<std::size_t>(host);
      if (plan_.next[static_cast<std::size_t>(device.node)][at] == device.departing) {
        reached.push_back(plan_.hosts[at].mac);
      }
    }
    links.add_forwarding(device_of(device.departing), reached);
  }
}

void Cluster::join_host(int host) {
  Links links;
  const int up = 2 * host;
  const network::Port& down = plan_.ports[static_cast<std::size_t>(up + 1)];
  const std::string& name = plan_.hosts[static_cast<std::size_t>(host)].name;
  links.make_pair({.name = name, .mac = port_mac(up)},
                  {.name = kHostDevice,
                   .mac = plan_.hosts[static_cast<std::size_t>(host)].mac,
                   .name_space = &hosts_[static_cast<std::size_t>(host)]},
                  plan_.mtu);
  const std::size_t node = static_cast<std::size_t>(down.from) - hosts_.size();
  links.attach(name, plan_.switches[node], {});
  devices_.push_back({.name = name,
                      .index = links.index(name),
                      .node = down.from,
                      .arriving = up,
                      .departing = up + 1});
  device_names_[static_cast<std::size_t>(up + 1)] = name;
  set_up_port(links, plan_, up + 1, name, engine_);
}

void Cluster::join_core(int port) {
  Links links;
  const network::Port& up = plan_.ports[static_cast<std::size_t>(port)];
  const std::array<std::string, 2> names{
      fmt::format("core{}.low", port / 2 - static_cast<int>(hosts_.size())),
      fmt::format("core{}.up", port / 2 - static_cast<int>(hosts_.size()))};
  links.make_pair({.name = names[0], .mac = port_mac(port)},
                  {.name = names[1], .mac = port_mac(port + 1)}, plan_.mtu);
  const bool floods = plan_.floods[static_cast<std::size_t>(port / 2)];
  for (const int end : {0, 1}) {
    const int node = end == 0 ? up.from : up.to;
    const int departing = port + end;
    const std::string& name = names[static_cast<std::size_t>(end)];
    links.attach(name, plan_.switches[static_cast<std::size_t>(node) - hosts_.size()],
                 {.floods = floods});
    devices_.push_back({.name = name,
                        .index = links.index(name),
                        .node = node,
                        .arriving = port + 1 - end,
                        .departing = departing});
    device_names_[static_cast<std::size_t>(departing)] = name;
    set_up_port(links, plan_, departing, name, engine_);
  }
}

void Cluster::set_up_host(int host) {
  const auto at = static_cast<std::size_t>(host);
  if (engine_ == Engine::Tap) {
    taps_.push_back(open_tap(hosts_[at], kHostDevice, plan_.hosts[at].mac));
  }
  const os::InNetwork inside(hosts_[at]);
  Links links;
  if (plan_.ip_version == 4) {
    set_sysctl("net/ipv6/conf/all/disable_ipv6", "1");
  } else {
    quieten_ipv6();
  }
  set_up_tcp(plan_);
  links.set_up("lo");
  if (engine_ == Engine::Tap) links.set_mtu(kHostDevice, plan_.mtu);
  const network::Port& out = plan_.ports[2 * at];
  // The tap switch loses single packets out of super-packets; the kernel cannot.
  const bool whole_packets = plan_.lossy() && engine_ != Engine::Tap;
  if (whole_packets) links.set_offload(kHostDevice, false);
  links.set_largest_segment(kHostDevice, network::largest_segment(out.rate));
  links.set_up(kHostDevice);
  links.add_address(kHostDevice, plan_, host);
  links.add_routes(kHostDevice, plan_);
  links.add_neighbours(kHostDevice, plan_, host);
  links.shape(kHostDevice, bucket_for(out, plan_.mtu, whole_packets));
}

void Cluster::start_hold() {
  const std::vector<Hold> holds = make_holds(plan_, devices_);
  if (holds.empty()) return;
  os::Pipe ready = os::make_pipe();
  os::Pipe stop = os::make_pipe();
  engine_process_.child = os::Child::start([&] {
    stop.write = {};
    const os::InNetwork inside(switches_);
    run_hold(plan_, devices_, holds, counters_, ready.write, stop.read);
    return 0;
  });
  ready.write = {};
  engine_process_.stop = std::move(stop.write);
  wait_until_ready(ready.read, engine_process_.child);
  // Only now: a rule without a listener drops packets.
  const os::InNetwork inside(switches_);
  apply_holds(holds, plan_.ip_version);
}

void Cluster::start_tap() {
  os::Pipe stop = os::make_pipe();
  engine_process_.child = os::Child::start([&] {
    stop.write = {};
    run_tap_switch(plan_, taps_, counters_, stop.read);
    return 0;
  });
  engine_process_.stop = std::move(stop.write);
  // The devices live as long as the engine.
  taps_.clear();
}

std::optional<std::string> Cluster::engine_failure() {
  const auto ending = engine_process_.child.poll();
  if (!ending) return {};
  return fmt::format("the network's engine {}", os::describe(*ending));
}

std::vector<os::ProcessIdentity> Cluster::processes() const {
  if (!engine_process_.child.is_running()) return {};
  return {engine_process_.child.identity()};
}

}  // namespace tw::testbed
