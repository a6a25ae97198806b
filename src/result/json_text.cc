// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/json_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tw::result {

std::size_t nesting(std::string_view json) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

nlohmann::ordered_json parse_json(std::string_view text, std::size_t deepest) {
  if (nesting(text) > deepest) return nullptr;
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(text, nullptr, false);
  return document.is_discarded() ? nlohmann::ordered_json() : document;
}

nlohmann::ordered_json read_json(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return nullptr;
  std::ifstream in(path, std::ios::binary);
  return parse_json(
      std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()));
}

}  // namespace tw::result
