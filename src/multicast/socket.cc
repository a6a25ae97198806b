// SPDX-License-Identifier: Apache-2.0
#include "trainwire/multicast/socket.h"

#include "trainwire/multicast/address.h"
#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

namespace tw::multicast {
namespace {

using transport::tcp::Endpoint;
using transport::tcp::SocketAddress;

/// What the kernel counts for a packet of 1,500 bytes (its truesize).
constexpr int kPacketMemory = 2304;
constexpr int kWanted = 4 << 20;

os::FileDescriptor open_socket(int family) {
  os::FileDescriptor socket(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) throw os::errno_error("making a UDP socket", errno);
  return socket;
}

template <typename Value>
int set(const os::FileDescriptor& socket, int level, int option, const Value& value) {
  return ::setsockopt(socket.get(), level, option, &value, sizeof value);
}

void bind_to(const os::FileDescriptor& socket, const Endpoint& endpoint) {
  const SocketAddress address = socket_address(endpoint);
  if (::bind(socket.get(), address.get(), address.length) == 0) return;
  throw os::errno_error(fmt::format("taking the address {}", endpoint.address), errno);
}

}  // namespace

os::FileDescriptor open_hub(const std::string& own, int packets) {
  const SocketAddress address = socket_address(Endpoint{.address = own, .port = 0});
  os::FileDescriptor socket = open_socket(address.get()->sa_family);
  bind_to(socket, {.address = own, .port = 0});
  const unsigned device = interface_of(own);
  int failed = 0;
  if (address.get()->sa_family == AF_INET) {
    ip_mreqn by = {};
    by.imr_address = reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr;
    by.imr_ifindex = static_cast<int>(device);
    failed = set(socket, IPPROTO_IP, IP_MULTICAST_IF, by);
  } else {
    failed = set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(device));
  }
  if (failed != 0) throw os::errno_error(fmt::format("sending to groups from {}", own), errno);
  // The kernel doubles it.
  set(socket, SOL_SOCKET, SO_SNDBUF, packets * kPacketMemory / 2);
  return socket;
}

os::FileDescriptor open_member(const std::string& own, const Endpoint& group) {
  const SocketAddress address = socket_address(group);
  os::FileDescriptor socket = open_socket(address.get()->sa_family);
  // Several ranks of a host may listen to one group.
  set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  bind_to(socket, group);
  const unsigned device = interface_of(own);
  int failed = 0;
  if (address.get()->sa_family == AF_INET) {
    ip_mreqn to = {};
    to.imr_multiaddr = reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr;
    to.imr_ifindex = static_cast<int>(device);
    failed = set(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, to);
  } else {
    ipv6_mreq to = {};
    to.ipv6mr_multiaddr = reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr;
    to.ipv6mr_interface = device;
    failed = set(socket, IPPROTO_IPV6, IPV6_JOIN_GROUP, to);
  }
  if (failed != 0) throw os::errno_error(fmt::format("joining the group {}", group.address), errno);
  if (set(socket, SOL_SOCKET, SO_RCVBUFFORCE, kWanted) != 0) {
    set(socket, SOL_SOCKET, SO_RCVBUF, kWanted);
  }
  return socket;
}

Sent send_to(const os::FileDescriptor& socket, const SocketAddress& to,
             std::span<const std::byte> datagram) {
  const ssize_t sent =
      ::sendto(socket.get(), datagram.data(), datagram.size(), 0, to.get(), to.length);
  if (sent >= 0) return Sent::Yes;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? Sent::Later : Sent::Lost;
}

std::size_t receive_from(const os::FileDescriptor& socket, std::span<std::byte> into,
                         SocketAddress& from) {
  from.length = sizeof from.storage;
  const ssize_t count =
      ::recvfrom(socket.get(), into.data(), into.size(), 0, from.get(), &from.length);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace tw::multicast
