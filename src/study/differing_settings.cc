// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/differing_settings.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/record/json.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <variant>

namespace tw::study {
namespace {

using record::Value;

/// A setting, in the document it was found in.
struct Leaf {
  const Value* value = nullptr;
  bool derived = false;
};

using Leaves = std::map<std::string, Leaf>;

/// A setting is {"value": ..., "origin": ...}; everything else holds settings.
void gather(const Value& node, const std::string& key, Leaves& into) {
  const Value* value = record::find(node, "value");
  const Value* origin = record::find(node, "origin");
  if (value != nullptr && origin != nullptr) {
    into[key] = {.value = value, .derived = record::text_of(origin) == "derived"};
  } else if (const auto* members = std::get_if<record::Members>(&node.is)) {
    for (const record::Member& member : *members) {
      gather(member.value, key.empty() ? member.name : fmt::format("{}.{}", key, member.name),
             into);
    }
  } else if (const auto* list = std::get_if<record::List>(&node.is)) {
    // The only job is "job", as it is written; others have their number.
    for (std::size_t i = 0; i < list->size(); ++i) {
      gather((*list)[i], list->size() == 1 ? key : fmt::format("{}.{}", key, i), into);
    }
  } else {
    into[key] = {.value = &node};
  }
}

/// A number of a file has no type: 1 is 1.0.
bool same(const Value& a, const Value& b) {
  const auto left = record::number_of(&a);
  const auto right = record::number_of(&b);
  return left && right ? *left == *right : a == b;
}

bool take_suffix(std::string& key, std::string_view suffix) {
  if (!key.ends_with(suffix)) return false;
  key.resize(key.size() - suffix.size());
  return true;
}

std::string shown(const Leaf* leaf, std::string_view unit) {
  if (leaf == nullptr || std::holds_alternative<record::Nothing>(leaf->value->is)) return "unset";
  const auto number = record::number_of(leaf->value);
  if (number && std::abs(*number) < 9e18) {
    if (unit == "_bps") return readable(BitRate(*number));
    if (unit == "_bytes") return readable(Bytes(static_cast<std::int64_t>(*number)));
    if (unit == "_ns") return readable(Duration(static_cast<std::int64_t>(*number)));
  }
  const auto text = record::text_of(leaf->value);
  return cut(printable(text ? *text : record::in_one_line(*leaf->value)), 40);
}

/// As in an experiment file: lists of tables are written in the singular.
std::string file_key(std::string key, std::string_view& unit) {
  unit = {};
  for (const std::string_view suffix : {"_bps", "_bytes", "_ns"}) {
    if (take_suffix(key, suffix)) unit = suffix;
  }
  if (key.starts_with("jobs.")) key.erase(3, 1);
  return printable(key);
}

const Leaf* find(const Leaves& leaves, const std::string& key) {
  const auto at = leaves.find(key);
  return at == leaves.end() ? nullptr : &at->second;
}

}  // namespace

std::vector<SettingDifference> differing_settings(const std::optional<Value>& baseline,
                                                  const std::optional<Value>& other) {
  std::vector<SettingDifference> found;
  if (!baseline || !other) return found;
  Leaves a;
  Leaves b;
  gather(*baseline, "", a);
  gather(*other, "", b);
  std::set<std::string> keys;
  for (const Leaves* leaves : {&a, &b}) {
    for (const auto& [key, leaf] : *leaves) keys.insert(key);
  }
  for (const std::string& key : keys) {
    const Leaf* left = find(a, key);
    const Leaf* right = find(b, key);
    if (key == "name" || (left != nullptr && right != nullptr && same(*left->value, *right->value)))
      continue;
    const bool derived = (left == nullptr || left->derived) && (right == nullptr || right->derived);
    if (derived) continue;
    std::string_view unit;
    const std::string name = file_key(key, unit);
    found.push_back({.key = name, .baseline = shown(left, unit), .other = shown(right, unit)});
  }
  return found;
}

}  // namespace tw::study
