// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/counters.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/namespace.h"

#include <fmt/format.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

namespace tw::watch {
namespace {

/// The answers, for which the kernel reckons some kilobytes each, must fit into the socket.
constexpr std::size_t kLinksAtOnce = 16;
constexpr std::size_t kAnswerBytes = 2048;

/// `number` comes back with the answer.
void append(std::vector<std::byte>& to, os::NetlinkMessage message, std::size_t number) {
  nlmsghdr* const header = message.get();
  // The answer itself is acknowledgement enough. About a queue the kernel answers only to its
  // listeners unless an echo is asked for.
  header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO;
  header->nlmsg_seq = static_cast<std::uint32_t>(number);
  const auto* const begin = reinterpret_cast<const std::byte*>(header);
  to.insert(to.end(), begin, begin + NLMSG_ALIGN(header->nlmsg_len));
}

os::NetlinkMessage ask_statistics(unsigned index) {
  if_stats_msg which = {};
  which.ifindex = index;
  which.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  os::NetlinkMessage message(RTM_GETSTATS, 0);
  message.header(which);
  return message;
}

os::NetlinkMessage ask_queue(unsigned index) {
  tcmsg which = {};
  which.tcm_ifindex = static_cast<int>(index);
  which.tcm_parent = TC_H_ROOT;
  os::NetlinkMessage message(RTM_GETQDISC, 0);
  message.header(which);
  return message;
}

/// The attribute as a struct, which kernels lengthen over time; zeros where theirs is shorter.
template <class T>
T struct_of(const nlattr* attribute) {
  T value = {};
  const std::span<const std::byte> bytes = os::value_of(attribute);
  if (!bytes.empty()) std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

void take_statistics(const nlmsghdr& message, LinkCounters& into) {
  const auto found = struct_of<rtnl_link_stats64>(
      os::find_attribute(message, sizeof(if_stats_msg), IFLA_STATS_LINK_64));
  into.received_bytes = found.rx_bytes;
  into.received_packets = found.rx_packets;
  into.received_dropped = found.rx_dropped;
  into.sent_bytes = found.tx_bytes;
  into.sent_packets = found.tx_packets;
  into.sent_dropped = found.tx_dropped;
}

void take_queue(const nlmsghdr& message, LinkCounters& into) {
  const nlattr* const all = os::find_attribute(message, sizeof(tcmsg), TCA_STATS2);
  const auto found = struct_of<gnet_stats_queue>(os::find_nested(all, TCA_STATS_QUEUE));
  into.queue_bytes = found.backlog;
  into.queue_packets = found.qlen;
  into.queue_dropped = found.drops;
}

/// A refusal (the interface has vanished) is an answer too, but tells nothing.
void take(const nlmsghdr& message, LinkCounters& into) {
  if (message.nlmsg_type == RTM_NEWSTATS) take_statistics(message, into);
  if (message.nlmsg_type == RTM_NEWQDISC) take_queue(message, into);
}

/// One message each, as many as one call gives.
struct Answers {
  struct Room {
    alignas(nlmsghdr) std::array<std::byte, kAnswerBytes> bytes;
  };
  std::array<Room, 2 * kLinksAtOnce> rooms;
  std::array<iovec, 2 * kLinksAtOnce> pieces = {};
  std::array<mmsghdr, 2 * kLinksAtOnce> messages = {};

  Answers() {
    for (std::size_t i = 0; i < rooms.size(); ++i) {
      pieces[i] = {rooms[i].bytes.data(), kAnswerBytes};
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
  }
};

unsigned index_of(const std::string& name) {
  const unsigned index = ::if_nametoindex(name.c_str());
  if (index == 0) throw os::errno_error(fmt::format("watching {}", name), errno);
  return index;
}

}  // namespace

LinkCounters difference(const LinkCounters& after, const LinkCounters& before) {
  LinkCounters d = after;
  d.received_bytes -= before.received_bytes;
  d.received_packets -= before.received_packets;
  d.received_dropped -= before.received_dropped;
  d.sent_bytes -= before.sent_bytes;
  d.sent_packets -= before.sent_packets;
  d.sent_dropped -= before.sent_dropped;
  d.queue_dropped -= before.queue_dropped;
  return d;
}

CounterReader::CounterReader(std::span<const WatchedLink> links) {
  std::map<std::uint64_t, std::size_t> group_of;  // by namespace: the one that still has room
  for (std::size_t i = 0; i < links.size(); ++i) {
    const os::InNetwork inside(links[i].network);
    const unsigned index = index_of(links[i].name);
    const auto [found, is_new] =
        group_of.try_emplace(os::namespace_number(links[i].network), groups_.size());
    if (is_new || groups_[found->second].links.size() == 2 * kLinksAtOnce) {
      found->second = groups_.size();
      groups_.push_back({.socket = os::NetlinkSocket(NETLINK_ROUTE)});
    }
    Group& group = groups_[found->second];
    append(group.requests, ask_statistics(index), group.links.size());
    append(group.requests, ask_queue(index), group.links.size() + 1);
    group.links.insert(group.links.end(), 2, i);
  }
}

void CounterReader::read(std::span<LinkCounters> into) {
  for (LinkCounters& link : into) link.queue_bytes = link.queue_packets = 0;
  for (Group& group : groups_) ask(group, into);
}

void CounterReader::ask(Group& group, std::span<LinkCounters> into) {
  const int socket = group.socket.descriptor().get();
  if (::send(socket, group.requests.data(), group.requests.size(), 0) < 0) {
    throw os::errno_error("asking for counters", errno);
  }
  // The kernel has answered when send returns, or says nothing, as of an interface without queue.
  Answers answers;
  std::size_t missing = group.links.size();
  while (missing > 0) {
    const int count = ::recvmmsg(socket, answers.messages.data(), static_cast<unsigned>(missing),
                                 MSG_DONTWAIT, nullptr);
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) throw os::errno_error("reading counters", errno);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const auto& message = *reinterpret_cast<const nlmsghdr*>(answers.rooms[i].bytes.data());
      if (message.nlmsg_seq < group.links.size()) {
        take(message, into[group.links[message.nlmsg_seq]]);
      }
    }
    missing -= static_cast<std::size_t>(count);
  }
}

PortSource ports_of(std::span<const WatchedLink> devices) {
  const auto reader = std::make_shared<CounterReader>(devices);
  const auto counters = std::make_shared<std::vector<LinkCounters>>(devices.size());
  return {.ports = 2 * devices.size(), .read = [reader, counters](std::span<PortCounts> into) {
            reader->read(*counters);
            for (std::size_t i = 0; i < counters->size(); ++i) {
              const LinkCounters& device = (*counters)[i];
              into[2 * i] = {.packets = device.sent_packets,
                             .bytes = device.sent_bytes,
                             .dropped = device.queue_dropped,
                             .queue_bytes = device.queue_bytes};
              into[2 * i + 1] = {.packets = device.received_packets,
                                 .bytes = device.received_bytes,
                                 .dropped = device.received_dropped};
            }
          }};
}

}  // namespace tw::watch
