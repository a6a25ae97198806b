// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/json_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tw::result {
namespace {

/// Goes along a document until a text member of the outermost object was found.
class Seeking : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  explicit Seeking(std::string_view name) : name_(name) {}
  std::optional<std::string> found = {};

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return --depth_ > 0; }
  bool start_array(std::size_t) override { return depth_ > 0 && enter(); }
  bool end_array() override { return --depth_ > 0; }
  bool key(string_t& name) override {
    is_next_ = depth_ == 1 && name == name_;
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ == 1 && is_next_) found = value;
    return !found;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool enter() {
    ++depth_;
    return true;
  }

  std::string_view name_;
  int depth_ = 0;
  bool is_next_ = false;
};

}  // namespace

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

std::optional<std::string> text_member(const std::string& path, std::string_view name) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::ifstream in(path, std::ios::binary);
  Seeking seeking(name);
  nlohmann::ordered_json::sax_parse(in, &seeking);
  return std::move(seeking.found);
}

}  // namespace tw::result
