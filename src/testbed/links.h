// SPDX-License-Identifier: Apache-2.0
// Links, addresses, routes and queues, one rtnetlink request each, in the network namespace in
// which the object was made.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/os/netlink.h"
#include "trainwire/testbed/shaping.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw::testbed {

/// One end of a new pair of virtual Ethernet devices.
struct LinkEnd {
  std::string name;
  network::Mac mac = {};
  const os::FileDescriptor* name_space = nullptr;  ///< null: the one of Links
};

/// What a bridge does with frames at a port.
struct PortFlags {
  bool floods = true;  ///< sends broadcast and multicast frames there
};

/// What netem does to packets before the line takes them.
struct Netem {
  Duration delay = {};
  Duration jitter = {};
  double loss = 0;
  double loss_burst = 1;
  std::int64_t limit = 0;  ///< packets
};

class Links {
 public:
  static constexpr std::uint32_t kQueue = 0x10000;  ///< the bucket's number: "1:" as tc writes it

  /// In the calling thread's namespace. Throws SystemError, as everything below.
  Links();

  void make_pair(const LinkEnd& a, const LinkEnd& b, int mtu);
  void make_bridge(const std::string& name);
  /// Brings the device up and makes it a port of `bridge`, which learns no addresses by itself.
  void attach(const std::string& port, const std::string& bridge, const PortFlags& flags);
  void set_up(const std::string& name);
  void set_mac(const std::string& name, const network::Mac& mac);
  void set_mtu(const std::string& name, int mtu);
  /// The largest piece that TCP hands to the device at once.
  void set_largest_segment(const std::string& name, Bytes size);
  /// Segmentation by the device: off, every packet on the wire is one MTU-sized frame.
  void set_offload(const std::string& name, bool on);
  /// A bucket of tokens before the line. Replaces what was there.
  void shape(const std::string& name, const Bucket& bucket, std::uint32_t queue = kQueue);

  /// Delay and loss inside the bucket. Throws SystemError where the kernel has no netem.
  void add_netem(const std::string& name, const Netem& netem, std::uint32_t queue = kQueue);

  /// A device (ifb) through whose queue packets can be led. Throws SystemError where the kernel has
  /// none.
  void make_passage(const std::string& name);
  /// What arrives at `name` goes through the queue of `passage` before anybody gets it; captures of
  /// `name` see it before.
  void lead_arriving(const std::string& name, const std::string& passage);
  /// Whether the device, or the kernel for it, sends or receives several packets as one.
  bool offloads(const std::string& name) const;

  void add_address(const std::string& name, const network::NetPlan& plan, int host);
  /// The plan's network behind `name`, and multicast.
  void add_routes(const std::string& name, const network::NetPlan& plan);
  /// The hardware addresses of all other hosts, so that nobody has to ask.
  void add_neighbours(const std::string& name, const network::NetPlan& plan, int host);
  /// The bridge sends frames for these addresses to `port`.
  void add_forwarding(const std::string& port, const std::vector<network::Mac>& macs);

  int index(const std::string& name) const;

 private:
  os::NetlinkSocket socket_;
};

/// Writes /proc/sys/`key` of the calling thread's network namespace. Throws SystemError.
void set_sysctl(const std::string& key, std::string_view value);

}  // namespace tw::testbed
