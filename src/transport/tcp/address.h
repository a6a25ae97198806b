// SPDX-License-Identifier: Apache-2.0
// Where a rank listens.

#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace tw::transport::tcp {

struct Endpoint {
  std::string address;  ///< IPv4 or IPv6, as text; names are not resolved
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

/// As the kernel takes it.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// Throws SpecError when the address is none.
SocketAddress socket_address(const Endpoint& endpoint);

}  // namespace tw::transport::tcp
