// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/links.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/if_bridge.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/tc_act/tc_mirred.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace tw::testbed {
namespace {

using os::NetlinkMessage;

ifinfomsg of_link(int index, unsigned flags = 0, unsigned change = 0) {
  ifinfomsg header = {};
  header.ifi_index = index;
  header.ifi_flags = flags;
  header.ifi_change = change;
  return header;
}

std::uint32_t u32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

/// False with errno where it cannot.
bool ask_driver(const std::string& name, ethtool_value& value) {
  const os::FileDescriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&value);
  return ::ioctl(any.get(), SIOCETHTOOL, &request) == 0;
}

void describe(NetlinkMessage& message, const LinkEnd& end, int mtu) {
  message.text(IFLA_IFNAME, end.name)
      .put(IFLA_ADDRESS, end.mac)
      .put(IFLA_MTU, static_cast<std::uint32_t>(mtu));
  if (end.name_space != nullptr) {
    message.put(IFLA_NET_NS_FD, static_cast<std::uint32_t>(end.name_space->get()));
  }
}

/// An address as the kernel takes it, 4 or 16 bytes.
std::vector<std::byte> binary(const std::string& address, int ip_version) {
  std::vector<std::byte> bytes(ip_version == 4 ? 4 : 16);
  const int family = ip_version == 4 ? AF_INET : AF_INET6;
  check(::inet_pton(family, address.c_str(), bytes.data()) == 1, "plans hold valid addresses");
  return bytes;
}

std::uint8_t family_of(const network::NetPlan& plan) {
  return static_cast<std::uint8_t>(plan.ip_version == 4 ? AF_INET : AF_INET6);
}

NetlinkMessage route(const network::NetPlan& plan, const std::string& to, int prefix, int link) {
  NetlinkMessage message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
  message
      .header(rtmsg{.rtm_family = family_of(plan),
                    .rtm_dst_len = static_cast<std::uint8_t>(prefix),
                    .rtm_src_len = 0,
                    .rtm_tos = 0,
                    .rtm_table = RT_TABLE_MAIN,
                    .rtm_protocol = RTPROT_STATIC,
                    .rtm_scope = static_cast<std::uint8_t>(
                        plan.ip_version == 4 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE),
                    .rtm_type = RTN_UNICAST,
                    .rtm_flags = 0})
      .bytes(RTA_DST, binary(to, plan.ip_version))
      .put(RTA_OIF, link);
  return message;
}

NetlinkMessage neighbour(int family, int link, int state, int flags) {
  NetlinkMessage message(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  ndmsg header = {};
  header.ndm_family = static_cast<std::uint8_t>(family);
  header.ndm_ifindex = link;
  header.ndm_state = static_cast<std::uint16_t>(state);
  header.ndm_flags = static_cast<std::uint8_t>(flags);
  message.header(header);
  return message;
}

}  // namespace

Links::Links() : socket_(NETLINK_ROUTE) {}

int Links::index(const std::string& name) const {
  const unsigned index = ::if_nametoindex(name.c_str());
  if (index == 0) throw os::errno_error(fmt::format("finding link {}", name), errno);
  return static_cast<int>(index);
}

void Links::make_pair(const LinkEnd& a, const LinkEnd& b, int mtu) {
  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(ifinfomsg{});
  describe(message, a, mtu);
  message.nest(IFLA_LINKINFO, [&](NetlinkMessage& info) {
    info.text(IFLA_INFO_KIND, "veth").nest(IFLA_INFO_DATA, [&](NetlinkMessage& data) {
      data.nest(VETH_INFO_PEER, [&](NetlinkMessage& peer) {
        const ifinfomsg header = {};
        peer.raw(std::as_bytes(std::span(&header, 1)));
        describe(peer, b, mtu);
      });
    });
  });
  socket_.request(std::move(message), fmt::format("making the link {} - {}", a.name, b.name));
}

void Links::make_bridge(const std::string& name) {
  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(of_link(0, IFF_UP, IFF_UP)).text(IFLA_IFNAME, name);
  message.nest(IFLA_LINKINFO, [](NetlinkMessage& info) {
    info.text(IFLA_INFO_KIND, "bridge").nest(IFLA_INFO_DATA, [](NetlinkMessage& data) {
      data.put(IFLA_BR_FORWARD_DELAY, std::uint32_t{0})
          .put(IFLA_BR_STP_STATE, std::uint32_t{0})
          .put(IFLA_BR_MCAST_SNOOPING, std::uint8_t{0});
    });
  });
  socket_.request(std::move(message), fmt::format("making the switch {}", name));
}

void Links::attach(const std::string& port, const std::string& bridge, const PortFlags& flags) {
  NetlinkMessage join(RTM_NEWLINK, 0);
  join.header(of_link(index(port), IFF_UP, IFF_UP)).put(IFLA_MASTER, u32(index(bridge)));
  socket_.request(std::move(join), fmt::format("attaching {} to {}", port, bridge));
  NetlinkMessage settings(RTM_SETLINK, 0);
  ifinfomsg header = of_link(index(port));
  header.ifi_family = AF_BRIDGE;
  const auto flood = static_cast<std::uint8_t>(flags.floods ? 1 : 0);
  settings.header(header).nest(IFLA_PROTINFO | NLA_F_NESTED, [&](NetlinkMessage& info) {
    info.put(IFLA_BRPORT_LEARNING, std::uint8_t{0})
        .put(IFLA_BRPORT_UNICAST_FLOOD, std::uint8_t{0})
        .put(IFLA_BRPORT_MCAST_FLOOD, flood)
        .put(IFLA_BRPORT_BCAST_FLOOD, flood);
  });
  socket_.request(std::move(settings), fmt::format("setting up port {}", port));
}

void Links::set_up(const std::string& name) {
  NetlinkMessage message(RTM_NEWLINK, 0);
  message.header(of_link(index(name), IFF_UP, IFF_UP));
  socket_.request(std::move(message), fmt::format("bringing {} up", name));
}

void Links::set_mac(const std::string& name, const network::Mac& mac) {
  NetlinkMessage message(RTM_NEWLINK, 0);
  message.header(of_link(index(name))).put(IFLA_ADDRESS, mac);
  socket_.request(std::move(message), fmt::format("setting {}'s address", name));
}

void Links::set_mtu(const std::string& name, int mtu) {
  NetlinkMessage message(RTM_NEWLINK, 0);
  message.header(of_link(index(name))).put(IFLA_MTU, static_cast<std::uint32_t>(mtu));
  socket_.request(std::move(message), fmt::format("setting {}'s MTU", name));
}

void Links::set_largest_segment(const std::string& name, Bytes size) {
  NetlinkMessage message(RTM_NEWLINK, 0);
  message.header(of_link(index(name))).put(IFLA_GSO_MAX_SIZE, u32(size.count()));
  socket_.request(std::move(message), fmt::format("limiting {}'s segments", name));
}

void Links::set_offload(const std::string& name, bool on) {
  for (const std::uint32_t feature : {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO}) {
    ethtool_value value{.cmd = feature, .data = on ? 1U : 0U};
    if (!ask_driver(name, value)) {
      throw os::errno_error(fmt::format("switching {}'s offloads {}", name, on ? "on" : "off"),
                            errno);
    }
  }
}

bool Links::offloads(const std::string& name) const {
  return std::ranges::any_of(std::array{ETHTOOL_GTSO, ETHTOOL_GGSO, ETHTOOL_GGRO}, [&](auto one) {
    ethtool_value value{.cmd = static_cast<std::uint32_t>(one), .data = 0};
    return ask_driver(name, value) && value.data != 0;
  });
}

void Links::make_passage(const std::string& name) {
  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(of_link(0, IFF_UP, IFF_UP)).text(IFLA_IFNAME, name);
  message.nest(IFLA_LINKINFO, [](NetlinkMessage& info) { info.text(IFLA_INFO_KIND, "ifb"); });
  socket_.request(std::move(message), fmt::format("making the device {} (ifb)", name));
}

void Links::lead_arriving(const std::string& name, const std::string& passage) {
  const std::string attempt = fmt::format("leading what arrives at {} through {}", name, passage);
  tcmsg header = {};
  header.tcm_ifindex = index(name);
  header.tcm_parent = TC_H_INGRESS;
  header.tcm_handle = TC_H_MAKE(TC_H_INGRESS, 0);
  NetlinkMessage place(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL);
  place.header(header).text(TCA_KIND, "ingress");
  socket_.request(std::move(place), attempt);

  header.tcm_parent = header.tcm_handle;
  header.tcm_handle = 0;
  header.tcm_info = TC_H_MAKE(1U << 16U, htons(ETH_P_ALL));
  // One key that any packet has: the word at 0 under an empty mask.
  std::vector<std::byte> every(sizeof(tc_u32_sel) + sizeof(tc_u32_key));
  tc_u32_sel selector = {};
  selector.flags = TC_U32_TERMINAL;
  selector.nkeys = 1;
  std::memcpy(every.data(), &selector, sizeof selector);
  tc_mirred there = {};
  there.action = TC_ACT_STOLEN;
  there.eaction = TCA_EGRESS_REDIR;
  there.ifindex = u32(index(passage));
  NetlinkMessage rule(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL);
  rule.header(header).text(TCA_KIND, "u32").nest(TCA_OPTIONS, [&](NetlinkMessage& options) {
    options.bytes(TCA_U32_SEL, every).nest(TCA_U32_ACT, [&](NetlinkMessage& actions) {
      actions.nest(1, [&](NetlinkMessage& first) {
        first.text(TCA_ACT_KIND, "mirred").nest(TCA_ACT_OPTIONS, [&](NetlinkMessage& mirred) {
          mirred.put(TCA_MIRRED_PARMS, there);
        });
      });
    });
  });
  socket_.request(std::move(rule), attempt);
}

void Links::shape(const std::string& name, const Bucket& bucket, std::uint32_t queue) {
  NetlinkMessage message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
  tcmsg header = {};
  header.tcm_ifindex = index(name);
  header.tcm_handle = queue;
  header.tcm_parent = TC_H_ROOT;
  const auto bytes_per_second = static_cast<std::uint64_t>(bucket.rate.bits_per_second() / 8);
  tc_tbf_qopt options = {};
  options.rate.linklayer = TC_LINKLAYER_ETHERNET;
  options.rate.rate = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes_per_second, ~0U));
  options.limit = u32(std::min<std::int64_t>(bucket.limit.count(), INT32_MAX));
  message.header(header).text(TCA_KIND, "tbf").nest(TCA_OPTIONS, [&](NetlinkMessage& nested) {
    nested.put(TCA_TBF_PARMS, options).put(TCA_TBF_BURST, u32(bucket.burst.count()));
    if (bytes_per_second > ~0U) nested.put(TCA_TBF_RATE64, bytes_per_second);
  });
  socket_.request(std::move(message), fmt::format("shaping {} to {}", name, readable(bucket.rate)));
}

void Links::add_netem(const std::string& name, const Netem& netem, std::uint32_t queue) {
  NetlinkMessage message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
  tcmsg header = {};
  header.tcm_ifindex = index(name);
  header.tcm_handle = 0x20000;
  header.tcm_parent = queue | 1U;
  tc_netem_qopt options = {};
  options.limit = u32(netem.limit);
  const bool bursts = netem.loss > 0 && netem.loss_burst > 1;
  const auto share = [](double p) {
    return static_cast<std::uint32_t>(std::lround(p * 4294967295.0));
  };
  if (!bursts) options.loss = share(netem.loss);
  message.header(header).text(TCA_KIND, "netem").nest(TCA_OPTIONS, [&](NetlinkMessage& nested) {
    nested.raw(std::as_bytes(std::span(&options, 1)));
    nested.put(TCA_NETEM_LATENCY64, netem.delay.count())
        .put(TCA_NETEM_JITTER64, netem.jitter.count());
    if (!bursts) return;
    // Gilbert's model: p into the bad state, r out of it, everything lost there.
    tc_netem_gemodel model = {};
    model.p = share(netem.loss / (1 - netem.loss) / netem.loss_burst);
    model.r = share(1 / netem.loss_burst);
    model.h = 0;
    model.k1 = 0;
    nested.nest(TCA_NETEM_LOSS, [&](NetlinkMessage& loss) { loss.put(NETEM_LOSS_GE, model); });
  });
  socket_.request(std::move(message), fmt::format("delaying what leaves by {} (netem)", name));
}

void Links::add_address(const std::string& name, const network::NetPlan& plan, int host) {
  const std::vector<std::byte> address =
      binary(plan.hosts[static_cast<std::size_t>(host)].address, plan.ip_version);
  NetlinkMessage message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  message
      .header(ifaddrmsg{.ifa_family = family_of(plan),
                        .ifa_prefixlen = static_cast<std::uint8_t>(plan.prefix_length),
                        .ifa_flags = IFA_F_PERMANENT,
                        .ifa_scope = RT_SCOPE_UNIVERSE,
                        .ifa_index = u32(index(name))})
      .bytes(IFA_LOCAL, address)
      .bytes(IFA_ADDRESS, address)
      // The route is ours to make: it carries the congestion control.
      .put(IFA_FLAGS, std::uint32_t{IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE | IFA_F_NODAD});
  socket_.request(std::move(message), fmt::format("giving {} its address", name));
}

void Links::add_routes(const std::string& name, const network::NetPlan& plan) {
  const int link = index(name);
  const std::string network = plan.ip_version == 4 ? "10.77.0.0" : "fd77::";
  NetlinkMessage unicast = route(plan, network, plan.prefix_length, link);
  unicast.nest(RTA_METRICS, [&](NetlinkMessage& metrics) {
    metrics.text(RTAX_CC_ALGO, plan.congestion_control);
  });
  if (const int refusal = socket_.try_request(std::move(unicast)); refusal != 0) {
    throw os::errno_error(
        fmt::format("routing {} with congestion control {}", network, plan.congestion_control),
        refusal, "/proc/sys/net/ipv4/tcp_available_congestion_control lists what this kernel has");
  }
  if (plan.ip_version == 4) {
    socket_.request(route(plan, "224.0.0.0", 4, link), "routing multicast");
  }
}

void Links::add_neighbours(const std::string& name, const network::NetPlan& plan, int host) {
  const int link = index(name);
  std::vector<NetlinkMessage> messages;
  for (std::size_t other = 0; other < plan.hosts.size(); ++other) {
    if (static_cast<int>(other) == host) continue;
    NetlinkMessage message = neighbour(family_of(plan), link, NUD_PERMANENT, 0);
    message.bytes(NDA_DST, binary(plan.hosts[other].address, plan.ip_version))
        .put(NDA_LLADDR, plan.hosts[other].mac);
    messages.push_back(std::move(message));
  }
  socket_.request_all(std::move(messages), "telling a host its neighbours");
}

void Links::add_forwarding(const std::string& port, const std::vector<network::Mac>& macs) {
  const int link = index(port);
  std::vector<NetlinkMessage> messages;
  for (const network::Mac& mac : macs) {
    NetlinkMessage message = neighbour(AF_BRIDGE, link, NUD_NOARP, NTF_MASTER);
    message.put(NDA_LLADDR, mac);
    messages.push_back(std::move(message));
  }
  socket_.request_all(std::move(messages), fmt::format("forwarding to {}", port));
}

void set_sysctl(const std::string& key, std::string_view value) {
  const std::string path = "/proc/sys/" + key;
  const os::FileDescriptor file = os::open_to_write(path);
  os::write_all(file, std::as_bytes(std::span(value)), path);
}

}  // namespace tw::testbed
