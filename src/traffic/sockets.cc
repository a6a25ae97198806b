// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/sockets.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/transport/tcp/socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace tw::traffic {
namespace {

using transport::tcp::Endpoint;
using transport::tcp::socket_address;
using transport::tcp::SocketAddress;

constexpr int kBacklog = 4096;
/// Ports that the kernel chooses for TCP and that UDP must have free too.
constexpr int kPortAttempts = 20;
constexpr int kConnectPatienceMs = 10'000;
/// An end that is cut off without a word is noticed after this.
constexpr unsigned kSilenceMs = 30'000;
/// A burst of datagrams must fit; the kernel may allow less.
constexpr int kDatagramRoom = 8 << 20;

template <typename Value>
void set_option(const os::FileDescriptor& socket, int level, int option, const Value& value) {
  ::setsockopt(socket.get(), level, option, &value, sizeof value);
}

os::FileDescriptor open_socket(int family, int type) {
  os::FileDescriptor socket(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) throw os::errno_error("making a socket", errno);
  return socket;
}

std::uint16_t port_of(const os::FileDescriptor& socket) {
  SocketAddress own;
  own.length = sizeof own.storage;
  if (::getsockname(socket.get(), own.get(), &own.length) != 0) {
    throw os::errno_error("asking for a socket's port", errno);
  }
  const auto port = own.storage.ss_family == AF_INET
                        ? reinterpret_cast<const sockaddr_in*>(&own.storage)->sin_port
                        : reinterpret_cast<const sockaddr_in6*>(&own.storage)->sin6_port;
  return ntohs(port);
}

/// 0, or the errno of the refusal.
int try_bind(const os::FileDescriptor& socket, const Endpoint& endpoint) {
  const SocketAddress own = socket_address(endpoint);
  return ::bind(socket.get(), own.get(), own.length) == 0 ? 0 : errno;
}

SystemError refusal(const Endpoint& endpoint, int code) {
  return os::errno_error(
      fmt::format("listening on {} port {}", endpoint.address, endpoint.port), code,
      code == EADDRINUSE ? "take another --port, or none" : "is it an address of this machine?");
}

/// Both sockets on one port; closed ones when UDP's is taken and another may be tried.
ListeningPair try_listen(const Endpoint& endpoint) {
  const int family = socket_address(endpoint).storage.ss_family;
  ListeningPair pair{.tcp = open_socket(family, SOCK_STREAM),
                     .udp = open_socket(family, SOCK_DGRAM)};
  set_option(pair.tcp, SOL_SOCKET, SO_REUSEADDR, 1);
  if (const int code = try_bind(pair.tcp, endpoint); code != 0) throw refusal(endpoint, code);
  if (::listen(pair.tcp.get(), kBacklog) != 0) throw refusal(endpoint, errno);
  pair.port = port_of(pair.tcp);
  const int code = try_bind(pair.udp, {.address = endpoint.address, .port = pair.port});
  if (code == EADDRINUSE && endpoint.port == 0) return {};
  if (code != 0) throw refusal(endpoint, code);
  set_option(pair.udp, SOL_SOCKET, SO_RCVBUF, kDatagramRoom);
  set_option(pair.udp, SOL_SOCKET, SO_RCVBUFFORCE, kDatagramRoom);
  return pair;
}

SystemError unreachable(const Endpoint& to, int code) {
  return os::errno_error(fmt::format("connecting to {} port {}", to.address, to.port), code,
                         "does the sink run there? Start it with `trainwire traffic sink`");
}

void bind_source(const os::FileDescriptor& socket, const std::string& from) {
  if (from.empty()) return;
  // The port is chosen when it connects: by four numbers, not by two.
  set_option(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  if (const int code = try_bind(socket, {.address = from, .port = 0}); code != 0) {
    throw os::errno_error(fmt::format("taking the address {}", from), code);
  }
}

}  // namespace

ListeningPair listen_on(const Endpoint& endpoint) {
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    ListeningPair pair = try_listen(endpoint);
    if (pair.tcp.is_open()) return pair;
  }
  throw refusal(endpoint, EADDRINUSE);
}

os::FileDescriptor open_line(const Endpoint& to, const std::string& from,
                             const std::string& congestion_control) {
  const SocketAddress address = socket_address(to);
  os::FileDescriptor socket = open_socket(address.storage.ss_family, SOCK_STREAM);
  bind_source(socket, from);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kSilenceMs);
  if (!congestion_control.empty() &&
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, congestion_control.data(),
                   static_cast<socklen_t>(congestion_control.size())) != 0) {
    throw os::errno_error(
        fmt::format("using congestion control {}", congestion_control), errno,
        "/proc/sys/net/ipv4/tcp_available_congestion_control lists what this kernel has");
  }
  if (::connect(socket.get(), address.get(), address.length) != 0 && errno != EINPROGRESS) {
    throw unreachable(to, errno);
  }
  return socket;
}

void wait_connected(const os::FileDescriptor& socket, const Endpoint& to) {
  pollfd wait{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  const std::int64_t until = os::monotonic_ns() + std::int64_t{1'000'000} * kConnectPatienceMs;
  int ready = 0;
  while (ready == 0 && os::monotonic_ns() < until) {
    ready = std::max(0, ::poll(&wait, 1, kConnectPatienceMs));
  }
  if (ready == 0) throw unreachable(to, ETIMEDOUT);
  if (const int code = transport::tcp::pending_error(socket); code != 0)
    throw unreachable(to, code);
}

os::FileDescriptor open_datagrams(const Endpoint& to, const std::string& from) {
  const SocketAddress address = socket_address(to);
  os::FileDescriptor socket = open_socket(address.storage.ss_family, SOCK_DGRAM);
  bind_source(socket, from);
  set_option(socket, SOL_SOCKET, SO_SNDBUF, kDatagramRoom);
  if (::connect(socket.get(), address.get(), address.length) != 0) throw unreachable(to, errno);
  return socket;
}

void abort_on_close(const os::FileDescriptor& socket) {
  set_option(socket, SOL_SOCKET, SO_LINGER, linger{.l_onoff = 1, .l_linger = 0});
}

std::size_t raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace tw::traffic
