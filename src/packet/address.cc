// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/address.h"

#include "trainwire/base/error.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

namespace tw::packet {
namespace {

constexpr std::array<std::uint8_t, 12> kV4Prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

using Groups = std::array<std::uint16_t, 8>;

Groups groups_of(const Address& address) {
  Groups groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<std::uint16_t>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
  }
  return groups;
}

struct Run {
  std::size_t begin;
  std::size_t length;
};

/// The longest run of zero groups, the first among equals; RFC 5952 section 4.2 shortens only this
/// one, and only when it is longer than one group.
Run longest_zero_run(const Groups& groups) {
  Run best{.begin = groups.size(), .length = 0};
  for (std::size_t begin = 0; begin < groups.size(); ++begin) {
    std::size_t end = begin;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - begin > best.length) best = {.begin = begin, .length = end - begin};
    if (end > begin) begin = end;
  }
  return best.length > 1 ? best : Run{.begin = groups.size(), .length = 0};
}

std::string v6_text(const Address& address) {
  const Groups groups = groups_of(address);
  const Run zeros = longest_zero_run(groups);
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == zeros.begin) {
      text += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

}  // namespace

bool Address::is_v4() const {
  return std::equal(kV4Prefix.begin(), kV4Prefix.end(), bytes.begin());
}

std::string Address::text() const {
  if (!is_v4()) return v6_text(*this);
  return fmt::format("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]);
}

Address v4_address(std::uint32_t bits) {
  Address address;
  std::copy(kV4Prefix.begin(), kV4Prefix.end(), address.bytes.begin());
  for (unsigned i = 0; i < 4; ++i) {
    address.bytes[12 + i] = static_cast<std::uint8_t>(bits >> (24 - 8 * i));
  }
  return address;
}

Address parse_address(std::string_view text) {
  const std::string terminated(text);
  in_addr v4{};
  Address v6;
  // inet_pton would read a text with a zero byte inside only up to it.
  if (text.find('\0') == std::string_view::npos) {
    if (::inet_pton(AF_INET, terminated.c_str(), &v4) == 1) return v4_address(ntohl(v4.s_addr));
    if (::inet_pton(AF_INET6, terminated.c_str(), v6.bytes.data()) == 1) return v6;
  }
  throw DataError(fmt::format("reading an address: \"{}\" is neither IPv4 nor IPv6", text));
}

}  // namespace tw::packet
