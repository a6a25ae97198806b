// SPDX-License-Identifier: Apache-2.0
// The first bytes of every connection, in both directions: who speaks, and proof that it belongs to
// this run. Numbers are in network byte order.
//
//   bytes 0-3    "twr1"
//   bytes 4-7    rank that speaks
//   bytes 8-11   lane: which of the connections between the two ranks
//   bytes 12-15  zero
//   bytes 16-31  the run's token

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tw::transport::tcp {

/// A secret of one run, given to its ranks and nobody else.
using Token = std::array<std::byte, 16>;

/// From the kernel's generator. Throws SystemError.
Token make_token();
/// 32 hexadecimal digits and back; nothing when it is not that.
std::string text_of(const Token& token);
std::optional<Token> parse_token(std::string_view text);

struct Hello {
  int rank = 0;
  int lane = 0;
  bool operator==(const Hello&) const = default;
};

inline constexpr std::size_t kHelloBytes = 32;
using HelloBytes = std::array<std::byte, kHelloBytes>;

HelloBytes encode(const Hello& hello, const Token& token);

/// Nothing unless it is a hello with this token; takes equally long for every wrong one.
std::optional<Hello> decode(std::span<const std::byte, kHelloBytes> bytes, const Token& token);

}  // namespace tw::transport::tcp
