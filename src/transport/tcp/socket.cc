// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/tcp/socket.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

namespace tw::transport::tcp {
namespace {

constexpr int kBacklog = 4096;

os::FileDescriptor open_socket(const SocketAddress& address) {
  os::FileDescriptor socket(
      ::socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) throw os::errno_error("making a TCP socket", errno);
  return socket;
}

/// Small messages must not wait for acknowledgements.
void send_at_once(const os::FileDescriptor& socket) {
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void bind_to(const os::FileDescriptor& socket, const std::string& address) {
  const SocketAddress own = socket_address({.address = address, .port = 0});
  if (::bind(socket.get(), own.get(), own.length) == 0) return;
  throw os::errno_error(fmt::format("taking the address {}", address), errno);
}

Moved outcome(ssize_t count) {
  if (count > 0) return {.bytes = static_cast<std::size_t>(count)};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS) {
    return {.blocked = true};
  }
  return {.error = errno};
}

}  // namespace

Listener::Listener(const std::string& address) : endpoint_{.address = address} {
  SocketAddress own = socket_address(endpoint_);
  socket_ = open_socket(own);
  bind_to(socket_, address);
  if (::listen(socket_.get(), kBacklog) != 0 ||
      ::getsockname(socket_.get(), own.get(), &own.length) != 0) {
    throw os::errno_error(fmt::format("listening on {}", address), errno);
  }
  endpoint_.port = ntohs(own.get()->sa_family == AF_INET
                             ? reinterpret_cast<sockaddr_in*>(&own.storage)->sin_port
                             : reinterpret_cast<sockaddr_in6*>(&own.storage)->sin6_port);
}

os::FileDescriptor Listener::accept() const {
  os::FileDescriptor socket(
      ::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) send_at_once(socket);
  return socket;
}

os::FileDescriptor begin_connect(const Endpoint& to, const std::string& from) {
  const SocketAddress address = socket_address(to);
  os::FileDescriptor socket = open_socket(address);
  bind_to(socket, from);
  send_at_once(socket);
  if (::connect(socket.get(), address.get(), address.length) != 0 && errno != EINPROGRESS) {
    throw os::errno_error(fmt::format("connecting to {} port {}", to.address, to.port), errno);
  }
  return socket;
}

int pending_error(const os::FileDescriptor& socket) {
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

Moved send_some(int socket, std::span<const std::byte> from) {
  return outcome(::send(socket, from.data(), from.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

Moved receive_some(int socket, std::span<std::byte> into) {
  const ssize_t count = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
  if (count == 0) return {.closed = true};
  return outcome(count);
}

std::int64_t queued_bytes(int socket) {
  int queued = 0;
  return ::ioctl(socket, SIOCOUTQ, &queued) == 0 ? queued : 0;
}

TcpState tcp_state(int socket) {
  tcp_info info = {};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  return {.rtt_s = 1e-6 * info.tcpi_rtt,
          .rtt_deviation_s = 1e-6 * info.tcpi_rttvar,
          .window_bytes = static_cast<std::int64_t>(info.tcpi_snd_cwnd) * info.tcpi_snd_mss,
          .retransmitted_packets = info.tcpi_total_retrans,
          .acknowledged_bytes = static_cast<std::int64_t>(info.tcpi_bytes_acked),
          .unanswered = info.tcpi_unacked > 0 ? info.tcpi_backoff : 0};
}

}  // namespace tw::transport::tcp
