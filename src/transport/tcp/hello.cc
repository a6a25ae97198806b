// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/tcp/hello.h"

#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>

namespace tw::transport::tcp {
namespace {

constexpr std::string_view kMagic = "twr1";

void put(std::span<std::byte> into, std::uint32_t number) {
  for (std::size_t i = 0; i < 4; ++i) into[i] = static_cast<std::byte>(number >> (24 - 8 * i));
}

std::uint32_t get(std::span<const std::byte> from) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = (number << 8) | std::to_integer<std::uint32_t>(from[i]);
  }
  return number;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::byte difference{};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{};
}

}  // namespace

Token make_token() {
  Token token = {};
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    throw os::errno_error("drawing the run's token", errno);
  }
  return token;
}

std::string text_of(const Token& token) {
  std::string text;
  for (const std::byte b : token) text += fmt::format("{:02x}", std::to_integer<int>(b));
  return text;
}

std::optional<Token> parse_token(std::string_view text) {
  Token token = {};
  if (text.size() != 2 * token.size()) return {};
  for (std::size_t i = 0; i < token.size(); ++i) {
    unsigned value = 0;
    const char* const begin = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
    if (error != std::errc() || end != begin + 2) return {};
    token[i] = static_cast<std::byte>(value);
  }
  return token;
}

HelloBytes encode(const Hello& hello, const Token& token) {
  HelloBytes bytes = {};
  std::copy_n(reinterpret_cast<const std::byte*>(kMagic.data()), kMagic.size(), bytes.begin());
  put(std::span(bytes).subspan(4), static_cast<std::uint32_t>(hello.rank));
  put(std::span(bytes).subspan(8), static_cast<std::uint32_t>(hello.lane));
  std::copy(token.begin(), token.end(), bytes.begin() + 16);
  return bytes;
}

std::optional<Hello> decode(std::span<const std::byte, kHelloBytes> bytes, const Token& token) {
  const auto magic = std::as_bytes(std::span(kMagic.data(), kMagic.size()));
  const bool known = same(bytes.first(4), magic);
  const bool trusted = same(bytes.subspan(16), token);
  if (!known || !trusted) return {};
  return Hello{.rank = static_cast<int>(get(bytes.subspan(4))),
               .lane = static_cast<int>(get(bytes.subspan(8)))};
}

}  // namespace tw::transport::tcp
