// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/socket.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/namespace.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

namespace tw::measure {
namespace {

using namespace std::chrono_literals;

constexpr int kReceiveRoom = 16 << 20;
constexpr int kSendRoom = 4 << 20;
constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kEthernetHeader = 14;

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress address_of(const std::string& text) {
  SocketAddress made;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&made.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    made.size = sizeof *v4;
    return made;
  }
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&made.storage);
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) != 1) {
    throw SpecError(fmt::format("measuring at {}: it is no IP address", text));
  }
  v6->sin6_family = AF_INET6;
  made.size = sizeof *v6;
  return made;
}

SocketAddress local_address(int socket) {
  SocketAddress found;
  if (::getsockname(socket, found.get(), &found.size) != 0) {
    throw os::errno_error("asking for a socket's address", errno);
  }
  return found;
}

bool set_option(int socket, int level, int name, int value) {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

/// Beyond the system's limit where we may, up to it otherwise.
void set_room(int socket) {
  if (!set_option(socket, SOL_SOCKET, SO_RCVBUFFORCE, kReceiveRoom)) {
    set_option(socket, SOL_SOCKET, SO_RCVBUF, kReceiveRoom);
  }
  if (!set_option(socket, SOL_SOCKET, SO_SNDBUFFORCE, kSendRoom)) {
    set_option(socket, SOL_SOCKET, SO_SNDBUF, kSendRoom);
  }
}

/// No room in the socket or in the queue behind it.
bool is_full(int code) { return code == EAGAIN || code == EWOULDBLOCK || code == ENOBUFS; }
/// What the network says of an earlier datagram (RFC 1122, 4.1.3.3), and what a packet filter of
/// the sender says when it drops one: for us, it was lost.
bool is_path_trouble(int code) {
  return code == ECONNREFUSED || code == EHOSTUNREACH || code == ENETUNREACH || code == EPERM;
}

/// As many messages as one call takes, with their control data.
struct Batch {
  static constexpr std::size_t kMessages = 64;
  struct Room {
    std::array<std::byte, 64> payload;
    alignas(cmsghdr) std::array<std::byte, 128> control;
  };
  std::array<Room, kMessages> rooms;
  std::array<iovec, kMessages> pieces;
  std::array<mmsghdr, kMessages> messages;

  void prepare() {
    for (std::size_t i = 0; i < kMessages; ++i) {
      pieces[i] = {rooms[i].payload.data(), rooms[i].payload.size()};
      messages[i] = {};
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_control = rooms[i].control.data();
      messages[i].msg_hdr.msg_controllen = rooms[i].control.size();
    }
  }
};

template <class T>
T control_value(const cmsghdr* control) {
  T value;
  std::memcpy(&value, CMSG_DATA(control), sizeof value);
  return value;
}

/// What the kernel says beside a message.
struct Aside {
  std::optional<std::int64_t> time_ns = {};
  std::size_t segment = 0;  ///< 0: it is one datagram
  std::optional<std::uint32_t> overrun = {};
};

Aside aside_of(msghdr& message) {
  Aside aside;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
      const auto time = control_value<timespec>(c);
      aside.time_ns = time.tv_sec * 1'000'000'000 + time.tv_nsec;
    } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
      aside.overrun = control_value<std::uint32_t>(c);
    } else if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
      aside.segment = static_cast<std::size_t>(control_value<int>(c));
    }
  }
  return aside;
}

std::size_t datagrams_in(std::size_t bytes, std::size_t segment) {
  return segment == 0 ? 1 : std::max<std::size_t>(1, (bytes + segment - 1) / segment);
}

}  // namespace

ProbeSocket::ProbeSocket(const PathEnd& end) : address_(end.address) {
  SocketAddress local = address_of(end.address);
  const std::string attempt = fmt::format("measuring at {}", end.address);
  const os::InNetwork inside(end.network);
  socket_ = os::FileDescriptor(
      ::socket(local.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.is_open()) throw os::errno_error(attempt, errno);
  if (::bind(socket_.get(), local.get(), local.size) != 0) throw os::errno_error(attempt, errno);
  set_room(socket_.get());
  if (!set_option(socket_.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1) ||
      !set_option(socket_.get(), SOL_SOCKET, SO_RXQ_OVFL, 1)) {
    throw os::errno_error(attempt, errno);
  }
}

bool ProbeSocket::is_ipv6() const {
  return local_address(socket_.get()).storage.ss_family == AF_INET6;
}

Bytes ProbeSocket::receive_room() const {
  int room = 0;
  socklen_t size = sizeof room;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &room, &size);
  return Bytes(room);
}

std::size_t ProbeSocket::largest_payload() const {
  int mtu = 0;
  socklen_t size = sizeof mtu;
  const bool ipv6 = is_ipv6();
  if (::getsockopt(socket_.get(), ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_MTU : IP_MTU, &mtu,
                   &size) != 0) {
    throw os::errno_error(fmt::format("asking for the MTU at {}", address_), errno);
  }
  return static_cast<std::size_t>(mtu) + kEthernetHeader - frame_bytes(0);
}

std::size_t ProbeSocket::frame_bytes(std::size_t payload) const {
  return payload + kUdpHeader + (is_ipv6() ? sizeof(in6_addr) * 2 + 8 : 20) + kEthernetHeader;
}

void join(ProbeSocket& a, ProbeSocket& b) {
  SocketAddress of_a = local_address(a.descriptor());
  SocketAddress of_b = local_address(b.descriptor());
  if (::connect(a.descriptor(), of_b.get(), of_b.size) != 0 ||
      ::connect(b.descriptor(), of_a.get(), of_a.size) != 0) {
    throw os::errno_error(fmt::format("measuring {} to {}", a.address(), b.address()), errno);
  }
}

bool ProbeSocket::send(std::span<const std::byte> payload) {
  if (::send(socket_.get(), payload.data(), payload.size(), 0) >= 0) return true;
  if (is_full(errno)) return false;
  if (!is_path_trouble(errno)) {
    throw os::errno_error(fmt::format("sending from {}", address_), errno);
  }
  return true;
}

bool ProbeSocket::send_segments(std::span<const std::byte> payload, std::size_t segment) {
  iovec piece = {const_cast<std::byte*>(payload.data()), payload.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> control = {};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_UDP;
  header->cmsg_type = UDP_SEGMENT;
  header->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto size = static_cast<std::uint16_t>(segment);
  std::memcpy(CMSG_DATA(header), &size, sizeof size);
  if (::sendmsg(socket_.get(), &message, 0) >= 0) return true;
  if (is_full(errno)) return false;
  if (!is_path_trouble(errno)) {
    throw os::errno_error(fmt::format("sending from {}", address_), errno);
  }
  return true;
}

void ProbeSocket::receive(const std::function<void(const ProbeArrival&)>& take) {
  Batch batch;
  while (true) {
    batch.prepare();
    const int count =
        ::recvmmsg(socket_.get(), batch.messages.data(), Batch::kMessages, MSG_TRUNC, nullptr);
    if (count < 0 && (errno == EINTR || is_path_trouble(errno))) continue;
    if (count < 0 && is_full(errno)) return;
    if (count < 0) throw os::errno_error(fmt::format("receiving at {}", address_), errno);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const std::size_t bytes = batch.messages[i].msg_len;
      const Aside aside = aside_of(batch.messages[i].msg_hdr);
      overrun_ = aside.overrun.value_or(overrun_);
      const auto& stored = batch.rooms[i].payload;
      take({.time_ns = aside.time_ns.value_or(os::real_time_ns()),
            .payload = std::span(stored).first(std::min(bytes, stored.size())),
            .bytes = bytes,
            .datagrams = datagrams_in(bytes, aside.segment)});
    }
    if (static_cast<std::size_t>(count) < Batch::kMessages) return;
  }
}

void ProbeSocket::gather_arrivals() { set_option(socket_.get(), SOL_UDP, UDP_GRO, 1); }

void wake_path(ProbeSocket& from, ProbeSocket& to) {
  const std::array<std::byte, 1> hello = {};
  const std::array<ProbeSocket*, 1> ends = {&to};
  const auto give_up = std::chrono::steady_clock::now() + 5s;
  bool arrived = false;
  while (!arrived) {
    if (std::chrono::steady_clock::now() > give_up) {
      throw SystemError(fmt::format("measuring {} to {}: no packet arrived for 5 s", from.address(),
                                    to.address()));
    }
    from.send(hello);
    wait_for(ends, nullptr, 50ms);
    to.receive([&](const ProbeArrival&) { arrived = true; });
  }
}

void wait_for(std::span<ProbeSocket* const> readable, const ProbeSocket* writable, Duration most) {
  std::array<pollfd, 4> waits = {};
  check(readable.size() < waits.size(), "few sockets are waited for");
  nfds_t count = 0;
  for (const ProbeSocket* socket : readable) {
    waits[count++] = {.fd = socket->descriptor(), .events = POLLIN, .revents = 0};
  }
  if (writable != nullptr) {
    waits[count++] = {.fd = writable->descriptor(), .events = POLLOUT, .revents = 0};
  }
  const auto ns = std::max<std::int64_t>(0, most.count());
  const timespec timeout = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  if (::ppoll(waits.data(), count, &timeout, nullptr) < 0 && errno != EINTR) {
    throw os::errno_error("waiting for packets", errno);
  }
}

}  // namespace tw::measure
