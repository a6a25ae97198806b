// SPDX-License-Identifier: Apache-2.0
// What tests of the TAP switch share: emulated hosts with real network stacks, joined by the
// switch.

#pragma once

#include "trainwire/network/test_plans.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/namespace.h"
#include "trainwire/testbed/tap_switch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tw::testbed {

inline void must(bool done, const char* attempt) {
  if (!done) throw os::errno_error(attempt, errno);
}

inline void write_setting(const std::string& path, std::string_view value) {
  const os::FileDescriptor file = os::open_to_write(path);
  os::write_all(file, std::as_bytes(std::span(value)), path);
}

inline sockaddr_storage address_of(const network::HostPlan& host, std::uint16_t port) {
  sockaddr_storage storage = {};
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, host.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
  } else {
    must(::inet_pton(AF_INET6, host.address.c_str(), &v6->sin6_addr) == 1, "reading an address");
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
  }
  return storage;
}

/// Gives the device its address and takes it up. REQUIRES: inside the host's namespace.
inline void configure(const network::NetPlan& plan, const network::HostPlan& host) {
  const os::FileDescriptor socket(
      ::socket(plan.ip_version == 4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::strcpy(request.ifr_name, "eth0");
  // No duplicate detection, no solicitations: only the test's packets are counted.
  write_setting("/proc/sys/net/ipv6/conf/eth0/accept_dad", "0");
  if (plan.ip_version == 4) write_setting("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "1");
  write_setting("/proc/sys/net/ipv4/tcp_ecn", "1");
  request.ifr_mtu = plan.mtu;
  must(::ioctl(socket.get(), SIOCSIFMTU, &request) == 0, "setting the MTU");
  const sockaddr_storage address = address_of(host, 0);
  if (plan.ip_version == 4) {
    std::memcpy(&request.ifr_addr, &address, sizeof request.ifr_addr);
    must(::ioctl(socket.get(), SIOCSIFADDR, &request) == 0, "setting the address");
  }
  request.ifr_flags = IFF_UP;
  must(::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0, "taking the device up");
  if (plan.ip_version == 6) {
    in6_ifreq six = {};
    six.ifr6_addr = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    six.ifr6_prefixlen = static_cast<std::uint32_t>(plan.prefix_length);
    six.ifr6_ifindex = static_cast<int>(::if_nametoindex("eth0"));
    must(::ioctl(socket.get(), SIOCSIFADDR, &six) == 0, "setting the address");
  }
}

/// The kernel makes an IPv6 address usable some time after it was set.
inline void bind(const os::FileDescriptor& socket, const sockaddr_storage& own) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const auto* const name = reinterpret_cast<const sockaddr*>(&own);
  while (::bind(socket.get(), name, sizeof own) != 0) {
    must(errno == EADDRNOTAVAIL && std::chrono::steady_clock::now() < patience, "bind");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Hosts, their devices and the switch in a process of its own.
class Network {
 public:
  explicit Network(const std::string& network)
      : plan(network::plan_of(network)),
        counters(plan.ports.size()),
        stop_(::eventfd(0, EFD_CLOEXEC)) {
    for (const network::HostPlan& host : plan.hosts) {
      spaces_.push_back(os::make_network_namespace());
      taps_.push_back(open_tap(spaces_.back(), "eth0", host.mac));
      const os::InNetwork inside(spaces_.back());
      configure(plan, host);
    }
    switch_ = ::fork();
    if (switch_ == 0) {
      run_tap_switch(plan, taps_, counters, stop_);
      ::_exit(0);
    }
  }

  ~Network() {
    EXPECT_EQ(::eventfd_write(stop_.get(), 1), 0);
    int status = -1;
    ::waitpid(switch_, &status, 0);
    EXPECT_EQ(status, 0);
  }

  /// A socket of a host, bound to its address and a port. Gives up after 20 s.
  os::FileDescriptor open(int host, int type, std::uint16_t port) const {
    const os::InNetwork inside(spaces_[static_cast<std::size_t>(host)]);
    os::FileDescriptor socket(
        ::socket(plan.ip_version == 4 ? AF_INET : AF_INET6, type | SOCK_CLOEXEC, 0));
    const sockaddr_storage own = address(host, port);
    bind(socket, own);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int buffer = 32 << 20;
    // Always there; the machine's default may be one that does not heed marks.
    if (type == SOCK_STREAM) ::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
    if (type == SOCK_DGRAM) {
      ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
    }
    return socket;
  }

  void connect(const os::FileDescriptor& socket, int host, std::uint16_t port) const {
    const sockaddr_storage peer = address(host, port);
    must(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) == 0,
         "connect");
  }

  const fabric::PortCounters& port(std::size_t number) const { return counters.ports()[number]; }

  /// Writes to devices so far.
  std::uint64_t releases() const {
    std::uint64_t sum = 0;
    for (const auto& bucket : counters.lateness().buckets) sum += bucket;
    return sum;
  }

  network::NetPlan plan;
  EngineCounters counters;

 private:
  sockaddr_storage address(int host, std::uint16_t port) const {
    return address_of(plan.hosts[static_cast<std::size_t>(host)], port);
  }

  os::FileDescriptor stop_;
  std::vector<os::FileDescriptor> spaces_;
  std::vector<os::FileDescriptor> taps_;
  pid_t switch_ = -1;
};

}  // namespace tw::testbed
