// SPDX-License-Identifier: Apache-2.0
// IP addresses, and the table that numbers them so that packets carry four bytes instead of
// sixteen.

#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::packet {

/// An IPv6 address, or an IPv4 one as ::ffff:a.b.c.d.
struct Address {
  std::array<std::uint8_t, 16> bytes = {};
  bool is_v4() const;
  /// "10.0.0.1", "fd00::1" (RFC 5952).
  std::string text() const;
  auto operator<=>(const Address&) const = default;
};

/// `bits` in host order: 0x0a000001 is 10.0.0.1.
Address v4_address(std::uint32_t bits);
/// Throws DataError when `text` is no address.
Address parse_address(std::string_view text);

}  // namespace tw::packet
