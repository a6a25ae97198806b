// SPDX-License-Identifier: Apache-2.0
#include "trainwire/multicast/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <memory>

namespace tw::multicast {
namespace {

constexpr std::uint16_t kPort = 47177;
/// 239.192.0.0/14: so many second bytes.
constexpr int kBlocks = 4;

bool is_six(const std::string& address) { return address.find(':') != std::string::npos; }

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (address->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text.data(),
                text.size());
  } else if (address->sa_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text.data(),
                text.size());
  }
  return text.data();
}

}  // namespace

transport::tcp::Endpoint group_endpoint(const std::string& own, int job, int group) {
  const int block = job % kBlocks;
  if (is_six(own)) {
    return {.address = fmt::format("ff18::{:x}:{:x}", 0x7470 + block, group), .port = kPort};
  }
  return {.address = fmt::format("239.{}.{}.{}", 192 + block, group >> 8, group & 255),
          .port = kPort};
}

unsigned interface_of(const std::string& own) {
  // All of 127.0.0.0/8 is the loopback device's, which tells one address of it.
  if (own.starts_with("127.")) return ::if_nametoindex("lo");
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return 0;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, ::freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr != nullptr && text_of(one->ifa_addr) == own) {
      return ::if_nametoindex(one->ifa_name);
    }
  }
  return 0;
}

}  // namespace tw::multicast
