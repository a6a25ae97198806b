// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/compare_settings.h"

#include "trainwire/base/units.h"
#include "trainwire/cli/printable.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

/// A setting, in the document it was found in.
struct Leaf {
  const ordered_json* value = nullptr;
  bool derived = false;
};

using Leaves = std::map<std::string, Leaf>;

/// A setting is {"value": ..., "origin": ...}; everything else holds settings.
void gather(const ordered_json& node, const std::string& key, Leaves& into) {
  if (node.is_object() && node.contains("value") && node.contains("origin")) {
    into[key] = {.value = &node["value"], .derived = node["origin"] == "derived"};
  } else if (node.is_object()) {
    for (const auto& [name, child] : node.items()) {
      gather(child, key.empty() ? name : fmt::format("{}.{}", key, name), into);
    }
  } else if (node.is_array()) {
    // The only job is "job", as it is written; others have their number.
    for (std::size_t i = 0; i < node.size(); ++i) {
      gather(node[i], node.size() == 1 ? key : fmt::format("{}.{}", key, i), into);
    }
  } else {
    into[key] = {.value = &node};
  }
}

bool take_suffix(std::string& key, std::string_view suffix) {
  if (!key.ends_with(suffix)) return false;
  key.resize(key.size() - suffix.size());
  return true;
}

std::string shown(const Leaf* leaf, std::string_view unit) {
  if (leaf == nullptr || leaf->value->is_null()) return "unset";
  const ordered_json& value = *leaf->value;
  if (value.is_number() && std::abs(value.get<double>()) < 9e18) {
    const auto number = value.get<double>();
    if (unit == "_bps") return readable(BitRate(number));
    if (unit == "_bytes") return readable(Bytes(static_cast<std::int64_t>(number)));
    if (unit == "_ns") return readable(Duration(static_cast<std::int64_t>(number)));
  }
  return cut(printable(value.is_string()
                           ? value.get<std::string>()
                           : value.dump(-1, ' ', false, ordered_json::error_handler_t::replace)),
             40);
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

std::vector<SettingDifference> differing_settings(const ordered_json& baseline,
                                                  const ordered_json& other) {
  std::vector<SettingDifference> found;
  if (baseline.is_null() || other.is_null()) return found;
  Leaves a;
  Leaves b;
  gather(baseline, "", a);
  gather(other, "", b);
  std::set<std::string> keys;
  for (const Leaves* leaves : {&a, &b}) {
    for (const auto& [key, leaf] : *leaves) keys.insert(key);
  }
  for (const std::string& key : keys) {
    const Leaf* left = find(a, key);
    const Leaf* right = find(b, key);
    if (key == "name" || (left != nullptr && right != nullptr && *left->value == *right->value))
      continue;
    const bool derived = (left == nullptr || left->derived) && (right == nullptr || right->derived);
    if (derived) continue;
    std::string_view unit;
    const std::string name = file_key(key, unit);
    found.push_back({.key = name, .baseline = shown(left, unit), .other = shown(right, unit)});
  }
  return found;
}

}  // namespace tw::cli
