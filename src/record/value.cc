// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/value.h"

#include <algorithm>
#include <charconv>

namespace tw::record {
namespace {

const Value* child(const Value& from, std::string_view key) {
  if (const auto* members = std::get_if<Members>(&from.is)) {
    const auto found = std::find_if(members->begin(), members->end(),
                                    [&](const Member& member) { return member.name == key; });
    return found == members->end() ? nullptr : &found->value;
  }
  const auto* list = std::get_if<List>(&from.is);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (list == nullptr || error != std::errc() || end != key.data() + key.size()) return nullptr;
  return index < list->size() ? &(*list)[index] : nullptr;
}

}  // namespace

bool Value::operator==(const Value& other) const { return is == other.is; }
bool Member::operator==(const Member& other) const {
  return name == other.name && value == other.value;
}

const Value* find(const Value& from, std::string_view path) {
  const Value* at = &from;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = child(*at, path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

std::optional<double> number_of(const Value* value) {
  if (value == nullptr) return {};
  if (const auto* real = std::get_if<double>(&value->is)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value->is)) {
    return static_cast<double>(*whole);
  }
  if (const auto* large = std::get_if<std::uint64_t>(&value->is)) {
    return static_cast<double>(*large);
  }
  return {};
}

std::optional<std::string> text_of(const Value* value) {
  if (value == nullptr) return {};
  const auto* text = std::get_if<std::string>(&value->is);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

std::vector<std::string> texts_of(const Value* value) {
  const auto* list = value != nullptr ? std::get_if<List>(&value->is) : nullptr;
  std::vector<std::string> texts;
  if (list == nullptr) return texts;
  for (const Value& each : *list) texts.push_back(text_of(&each).value_or(""));
  return texts;
}

}  // namespace tw::record
