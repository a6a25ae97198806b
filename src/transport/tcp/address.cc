// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/tcp/address.h"

#include "trainwire/base/error.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

namespace tw::transport::tcp {

SocketAddress socket_address(const Endpoint& endpoint) {
  SocketAddress result;
  auto* const four = reinterpret_cast<sockaddr_in*>(&result.storage);
  if (::inet_pton(AF_INET, endpoint.address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(endpoint.port);
    result.length = sizeof(sockaddr_in);
    return result;
  }
  auto* const six = reinterpret_cast<sockaddr_in6*>(&result.storage);
  if (::inet_pton(AF_INET6, endpoint.address.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(endpoint.port);
    result.length = sizeof(sockaddr_in6);
    return result;
  }
  throw SpecError(fmt::format("\"{}\" is no IPv4 or IPv6 address", endpoint.address));
}

}  // namespace tw::transport::tcp
