// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/introduction.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace tw::fleet {
namespace {

constexpr std::size_t kMostName = 64;
constexpr std::string_view kLettersAndDigits =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool is_address(const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;
  std::array<unsigned char, sizeof(in6_addr)> bytes = {};
  return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > kMostName) return false;
  if (kLettersAndDigits.find(name.front()) == std::string_view::npos) return false;
  return name.find_first_not_of(std::string(kLettersAndDigits) + "._-") == std::string_view::npos;
}

JoinedHost introduced(const nlohmann::json& hello, int number) {
  JoinedHost who{.name = hello.at("name").get<std::string>(),
                 .address = hello.at("address").get<std::string>(),
                 .interface = printable(hello.at("interface").get<std::string>())};
  if (!is_plain_name(who.name)) who.name = fmt::format("host{}", number);
  if (!is_address(who.address)) {
    throw DataError(fmt::format("host {} says that its address is \"{}\", which is none", number,
                                printable(who.address)));
  }
  return who;
}

}  // namespace tw::fleet
