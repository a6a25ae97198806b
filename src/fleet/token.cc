// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/token.h"

#include "trainwire/base/error.h"
#include "trainwire/fleet/launch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

namespace tw::fleet {
namespace {

/// Only its owner may read it.
std::string token_from_file(const std::string& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    throw SystemError(
        fmt::format("{}: the file of the token ({}) cannot be read", path, kTokenFileVariable));
  }
  if ((facts.st_mode & 077U) != 0) {
    throw SystemError(fmt::format("{}: others may read the run's token: chmod 600 {}", path, path));
  }
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

}  // namespace

transport::tcp::Token token_from(const Variables& variables) {
  if (const auto given = variables(kTokenVariable)) return token_of(*given);
  if (const auto file = variables(kTokenFileVariable)) return token_of(token_from_file(*file));
  throw SpecError(
      fmt::format("the run's token is missing: set {}, or {} to a file that only you may read",
                  kTokenVariable, kTokenFileVariable));
}

transport::tcp::Token token_of(std::string_view text) {
  if (const auto token = transport::tcp::parse_token(text)) return *token;
  throw SpecError("the run's token has 32 hexadecimal digits; this one has not");
}

}  // namespace tw::fleet
