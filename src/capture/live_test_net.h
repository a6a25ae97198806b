// SPDX-License-Identifier: Apache-2.0
// A namespace with a loopback interface and a cable (veth "left" to "right"), for tests of live
// capture. IPv6 is off: nothing is on the cable but what the test sends.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/os/namespace.h"
#include "trainwire/os/netlink.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace tw::capture {

inline void bring_up(os::NetlinkSocket& netlink, const std::string& interface) {
  ifinfomsg which = {};
  which.ifi_index = static_cast<int>(::if_nametoindex(interface.c_str()));
  which.ifi_flags = IFF_UP;
  which.ifi_change = IFF_UP;
  os::NetlinkMessage up(RTM_NEWLINK, 0);
  up.header(which);
  netlink.request(std::move(up), "bringing up " + interface);
}

inline void make_cable(os::NetlinkSocket& netlink) {
  os::NetlinkMessage cable(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  cable.header(ifinfomsg{}).text(IFLA_IFNAME, "left").nest(IFLA_LINKINFO, [](auto& info) {
    info.text(IFLA_INFO_KIND, "veth").nest(IFLA_INFO_DATA, [](auto& data) {
      data.nest(VETH_INFO_PEER, [](auto& peer) {
        const ifinfomsg header = {};
        peer.raw(std::as_bytes(std::span(&header, 1))).text(IFLA_IFNAME, "right");
      });
    });
  });
  netlink.request(std::move(cable), "making a cable");
}

/// Nothing where namespaces may not be made; the reason is printed.
inline std::optional<os::FileDescriptor> test_network() {
  try {
    os::FileDescriptor network = os::make_network_namespace();
    const os::InNetwork inside(network);
    std::ofstream("/proc/sys/net/ipv6/conf/all/disable_ipv6") << 1;
    std::ofstream("/proc/sys/net/ipv6/conf/default/disable_ipv6") << 1;
    os::NetlinkSocket netlink(NETLINK_ROUTE);
    make_cable(netlink);
    for (const std::string interface : {"lo", "left", "right"}) bring_up(netlink, interface);
    return network;
  } catch (const SystemError& refusal) {
    std::printf("skipped: %s\n", refusal.what());
    return std::nullopt;
  }
}

/// Puts frames of a private protocol on an interface.
class FrameSender {
 public:
  FrameSender(const os::FileDescriptor& network, const std::string& interface) {
    const os::InNetwork inside(network);
    socket_ = os::FileDescriptor(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    address_.sll_family = AF_PACKET;
    address_.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  }

  /// `bytes` with the Ethernet header. Whether the kernel took it.
  bool send(std::size_t bytes) const {
    std::vector<std::byte> frame(bytes);
    frame[12] = std::byte{0x88};  // a protocol for local experiments, IEEE 802: 88b5
    frame[13] = std::byte{0xb5};
    const auto* const to = reinterpret_cast<const sockaddr*>(&address_);
    return ::sendto(socket_.get(), frame.data(), bytes, 0, to, sizeof address_) ==
           static_cast<std::ptrdiff_t>(bytes);
  }

 private:
  os::FileDescriptor socket_;
  sockaddr_ll address_ = {};
};

}  // namespace tw::capture
