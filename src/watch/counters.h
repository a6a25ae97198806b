// SPDX-License-Identifier: Apache-2.0
// Counters of interfaces and of the queues in front of them, of many namespaces, read often.
//
// All interfaces of a namespace are asked about at once, counters and queue, through a netlink
// socket that stays open in there: about 8 us for a host with one interface, so 64 hosts at 10 ms
// take some 5 % of a processor. (/proc/net/dev alone costs 3 to 4 us and its parsing, but has no
// queues, which by themselves take 5 us.)

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/os/netlink.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tw::watch {

struct WatchedLink {
  const os::FileDescriptor& network;  ///< namespace; needed only at the beginning
  std::string name;
};

/// Since the interface was made, except for what is in the queue now.
struct LinkCounters {
  std::uint64_t received_bytes = 0;
  std::uint64_t received_packets = 0;
  std::uint64_t received_dropped = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t sent_packets = 0;
  std::uint64_t sent_dropped = 0;
  std::uint32_t queue_bytes = 0;    ///< 0 for an interface without queue, like those below
  std::uint32_t queue_packets = 0;  ///< a super-frame is one
  std::uint32_t queue_dropped = 0;  ///< packets, in 32 bits
  bool operator==(const LinkCounters&) const = default;
};

/// What was counted meanwhile; what waits in a queue is that of `after`.
LinkCounters difference(const LinkCounters& after, const LinkCounters& before);

/// One direction of a link, since it was made. What the sender of that direction does not count is
/// 0.
struct PortCounts {
  std::uint64_t packets =
      0;                    ///< that the line carried, a super-frame is one where the kernel counts
  std::uint64_t bytes = 0;  ///< of those
  std::uint64_t dropped = 0;      ///< packets that found the queue full
  std::uint64_t lost = 0;         ///< packets lost because the experiment asks for it
  std::uint64_t marked = 0;       ///< packets marked by ECN
  std::uint64_t queue_bytes = 0;  ///< waiting now, or the most since the last look
  bool operator==(const PortCounts&) const = default;
};

/// Someone who counts the directions of links.
struct PortSource {
  std::size_t ports = 0;
  /// Into as many places as there are ports. Throws SystemError.
  std::function<void(std::span<PortCounts>)> read = {};
};

class CounterReader {
 public:
  /// Throws SystemError when a namespace has no such interface.
  explicit CounterReader(std::span<const WatchedLink> links);

  /// `into` has one place for each link. The counters of an interface that has vanished stay as
  /// they stand there. Throws SystemError when the kernel refuses.
  void read(std::span<LinkCounters> into);

 private:
  /// Requests that are sent together, and where their answers belong.
  struct Group {
    os::NetlinkSocket socket;
    std::vector<std::byte> requests = {};
    std::vector<std::size_t> links = {};  ///< by number of the request
  };
  void ask(Group& group, std::span<LinkCounters> into);

  std::vector<Group> groups_;
};

/// Two ports a device: what it sends, then what it receives.
PortSource ports_of(std::span<const WatchedLink> devices);

}  // namespace tw::watch
