// SPDX-License-Identifier: Apache-2.0
// The two ends of a path under measurement: UDP sockets in their namespaces, joined to each other,
// both served by the same thread.
//
// ProbeArrival times are the kernel's, so they do not depend on when the thread was woken. They are
// of the same clock (CLOCK_REALTIME) as the times of sending, since both ends are on one machine.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/os/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace tw::measure {

/// One end of a path.
struct PathEnd {
  const os::FileDescriptor& network;  ///< namespace
  std::string address;                ///< IPv4 or IPv6, of an interface in there
};

/// What one receive call gave. The kernel may hand over several datagrams of equal length (the last
/// may be shorter) at once.
struct ProbeArrival {
  std::int64_t time_ns;
  std::span<const std::byte> payload;  ///< as far as it fits the receive buffer
  std::size_t bytes;                   ///< of payload on the wire, all datagrams
  std::size_t datagrams;
};

class ProbeSocket {
 public:
  /// Bound to the address and a port of the kernel's choice; non-blocking. Throws SystemError.
  explicit ProbeSocket(const PathEnd& end);

  int descriptor() const { return socket_.get(); }
  const std::string& address() const { return address_; }
  bool is_ipv6() const;
  /// Bytes that the kernel lets wait here until they are received.
  Bytes receive_room() const;
  /// Largest payload of a datagram on the way to the joined end. REQUIRES: joined.
  std::size_t largest_payload() const;
  /// Of a datagram with so much payload: as counted by the rates of a plan.
  std::size_t frame_bytes(std::size_t payload) const;

  /// Sends and receives only from and to each other from here on.
  friend void join(ProbeSocket& a, ProbeSocket& b);

  /// False when the kernel has no room for it now. A refusal by the path itself is a loss, not an
  /// error.
  bool send(std::span<const std::byte> payload);
  /// One call for datagrams of `segment` bytes (the last may be shorter). Throws SystemError.
  bool send_segments(std::span<const std::byte> payload, std::size_t segment);
  /// Gives everything that has arrived to `take`.
  void receive(const std::function<void(const ProbeArrival&)>& take);
  /// Arrivals are handed over several at a time where that is possible.
  void gather_arrivals();
  /// Datagrams, or gathered groups of them, that found no room here, as far as later arrivals told.
  std::uint64_t overrun() const { return overrun_; }

 private:
  os::FileDescriptor socket_;
  std::string address_;
  std::uint64_t overrun_ = 0;
};

/// Sends one-byte datagrams until one arrives, so that address resolution is over before anything
/// is measured. Some may arrive later: their payload is one byte long. REQUIRES: joined. Throws
/// SystemError when none arrives for 5 s.
void wake_path(ProbeSocket& from, ProbeSocket& to);
inline bool is_wake_up(const ProbeArrival& arrival) { return arrival.bytes == 1; }

/// Until one of the descriptors is readable, or `writable` (when given) has room, or the time is
/// over. At once for a negative time.
void wait_for(std::span<ProbeSocket* const> readable, const ProbeSocket* writable, Duration most);

}  // namespace tw::measure
