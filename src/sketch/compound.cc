// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sketch/compound.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>

namespace tw::sketch {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view form,
                         std::string_view example) {
  throw SpecError(fmt::format("{} {}: expected {}, for example {} {}", option, printable(text),
                              form, option, example));
}

/// "from_host" for "from"; "" for what is no direction.
std::string direction_of(const std::string& word) {
  if (word == "to" || word == "from") return word + "_host";
  return word == "both" || word == "to_host" || word == "from_host" ? word : "";
}

}  // namespace

Settings link_of(std::string_view text) {
  const auto wrong = [&] { refuse("--link", text, kLinkForm, "host1:to:120Mbit"); };
  std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3 || parts.front().empty()) wrong();
  Settings settings{{"at", parts.front()}};
  if (parts.size() == 3) {
    const std::string direction = direction_of(parts[1]);
    if (direction.empty()) wrong();
    settings.emplace_back("direction", direction);
  }
  for (const std::string& word : split(parts.back(), ',')) {
    const std::size_t equals = word.find('=');
    if (word.empty() || equals == 0) wrong();
    if (equals == word.npos) {
      settings.emplace_back("rate", word);
    } else {
      settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return settings;
}

Settings traffic_of(std::string_view text) {
  const std::vector<std::string> parts = split(text, ':');
  const bool is_whole =
      parts.size() >= 3 && parts.size() <= 4 && !parts[0].empty() && !parts[1].empty();
  if (!is_whole) refuse("--traffic", text, kTrafficForm, "host2:host0:0.8:websearch");
  Settings settings;
  if (parts.size() == 4) settings.emplace_back("kind", parts[3]);
  settings.emplace_back("from", parts[0]);
  settings.emplace_back("to", parts[1]);
  settings.emplace_back("load", parts[2]);
  return settings;
}

}  // namespace tw::sketch
