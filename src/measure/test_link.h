// SPDX-License-Identifier: Apache-2.0
// Two hosts and a cable, for tests of measuring: namespaces with an interface "eth0" each, both
// with IPv4 and IPv6 addresses.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/measure/socket.h"
#include "trainwire/os/namespace.h"
#include "trainwire/os/netlink.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace tw::measure {

inline int interface_index(const std::string& name) {
  return static_cast<int>(::if_nametoindex(name.c_str()));
}

/// In the namespace of the calling thread.
inline void add_address(os::NetlinkSocket& netlink, const std::string& text) {
  const bool ipv6 = text.find(':') != std::string::npos;
  std::array<std::byte, 16> address;
  ::inet_pton(ipv6 ? AF_INET6 : AF_INET, text.c_str(), address.data());
  const auto bytes = std::span<const std::byte>(address).first(ipv6 ? 16 : 4);
  ifaddrmsg where = {};
  where.ifa_family = ipv6 ? AF_INET6 : AF_INET;
  where.ifa_prefixlen = ipv6 ? 64 : 24;
  where.ifa_flags = IFA_F_NODAD;
  where.ifa_index = static_cast<std::uint32_t>(interface_index("eth0"));
  os::NetlinkMessage add(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  add.header(where).bytes(IFA_LOCAL, bytes).bytes(IFA_ADDRESS, bytes);
  netlink.request(std::move(add), "adding " + text);
}

inline void bring_up(os::NetlinkSocket& netlink) {
  ifinfomsg which = {};
  which.ifi_index = interface_index("eth0");
  which.ifi_flags = IFF_UP;
  which.ifi_change = IFF_UP;
  os::NetlinkMessage up(RTM_NEWLINK, 0);
  up.header(which);
  netlink.request(std::move(up), "bringing up eth0");
}

struct TestLink {
  os::FileDescriptor a = os::make_network_namespace();
  os::FileDescriptor b = os::make_network_namespace();

  PathEnd a4() const { return {a, "10.9.0.1"}; }
  PathEnd b4() const { return {b, "10.9.0.2"}; }
  PathEnd a6() const { return {a, "fd09::1"}; }
  PathEnd b6() const { return {b, "fd09::2"}; }
};

inline void make_cable(const TestLink& link) {
  const os::InNetwork inside(link.a);
  os::NetlinkMessage cable(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  cable.header(ifinfomsg{}).text(IFLA_IFNAME, "eth0").nest(IFLA_LINKINFO, [&](auto& info) {
    info.text(IFLA_INFO_KIND, "veth").nest(IFLA_INFO_DATA, [&](auto& data) {
      data.nest(VETH_INFO_PEER, [&](auto& peer) {
        const ifinfomsg header = {};
        peer.raw(std::as_bytes(std::span(&header, 1)))
            .text(IFLA_IFNAME, "eth0")
            .put(IFLA_NET_NS_FD, static_cast<std::uint32_t>(link.b.get()));
      });
    });
  });
  os::NetlinkSocket(NETLINK_ROUTE).request(std::move(cable), "making a cable");
}

/// Nothing where namespaces may not be made; the reason is printed.
inline std::optional<TestLink> test_link() {
  try {
    TestLink link;
    make_cable(link);
    for (const PathEnd& end : {link.a4(), link.b4(), link.a6(), link.b6()}) {
      const os::InNetwork inside(end.network);
      os::NetlinkSocket netlink(NETLINK_ROUTE);
      add_address(netlink, end.address);
      bring_up(netlink);
    }
    return link;
  } catch (const SystemError& refusal) {
    std::printf("skipped: %s\n", refusal.what());
    return std::nullopt;
  }
}

/// `tc qdisc add dev eth0 root ...` in a namespace; whether that worked.
inline bool run_tc(const os::FileDescriptor& network, std::vector<std::string> queue) {
  std::vector<std::string> words = {"tc", "qdisc", "add", "dev", "eth0", "root"};
  words.insert(words.end(), queue.begin(), queue.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const os::InNetwork inside(network);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execvp("tc", arguments.data());
    ::execv("/usr/sbin/tc", arguments.data());
    ::_exit(127);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace tw::measure
