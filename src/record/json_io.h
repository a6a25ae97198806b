// SPDX-License-Identifier: Apache-2.0
// Two visitors of a struct's members: one writes them into a JSON object, one reads them from it.
//
//   template <typename Io>
//   void describe(Io& io, As<Check> auto& check) {
//     io("name", check.name);          // always there
//     io.or_null("mean_s", t.mean_s);  // null when it is not there
//     io.if_any("sweep", run.sweep);   // left out when it is not there
//     io.beside("x", entry.inner);     // its members stand here; there when "x" is
//   }
//
// Reading never fails: a member that is not there, or of another type, leaves its value as it was.

#pragma once

#include "trainwire/record/captured.h"
#include "trainwire/record/value.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tw::record {

nlohmann::ordered_json to_json(const Value& value);
Value value_from(const nlohmann::ordered_json& document);

/// A `Part`, to be written or to be read into.
template <typename T, typename Part>
concept As = std::same_as<std::remove_const_t<T>, Part>;

class JsonWriter {
 public:
  static constexpr bool kReads = false;
  /// REQUIRES: an object.
  explicit JsonWriter(nlohmann::ordered_json& to)
      : to_(to.get_ref<nlohmann::ordered_json::object_t&>()) {
    to_.reserve(to_.size() + kManyMembers);  // growing copies all names
  }

  template <typename T>
  void operator()(const char* key, const T& value) {
    add(key, of(value));
  }
  template <typename T>
  void or_null(const char* key, const std::optional<T>& value) {
    add(key, value ? of(*value) : nlohmann::ordered_json());
  }
  template <typename T>
  void if_any(const char* key, const std::optional<T>& value) {
    if (value) add(key, of(*value));
  }
  template <typename T>
  void if_any(const char* key, const std::vector<T>& values) {
    if (!values.empty()) add(key, of(values));
  }
  /// Members of an inner struct that stand beside the others.
  template <typename T>
  void beside(const char*, const std::optional<T>& value) {
    if (value) describe(*this, *value);
  }

  template <typename T>
  static nlohmann::ordered_json of(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
      return value;
    } else if constexpr (std::same_as<T, Value>) {
      return to_json(value);
    } else {
      nlohmann::ordered_json object = nlohmann::ordered_json::object();
      JsonWriter members(object);
      describe(members, value);
      return object;
    }
  }
  template <typename T>
  static nlohmann::ordered_json of(const std::vector<T>& values) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    list.get_ref<nlohmann::ordered_json::array_t&>().reserve(values.size());
    for (const T& value : values) list.push_back(of(value));
    return list;
  }
  template <typename T>
  static nlohmann::ordered_json of(const std::map<std::string, T>& values) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const auto& [key, value] : values) object[key] = of(value);
    return object;
  }
  static nlohmann::ordered_json of(const std::vector<Count>& counts) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const Count& count : counts) object[count.of] = count.count;
    return object;
  }

 private:
  static constexpr std::size_t kManyMembers = 16;

  /// No struct has two members of one name: none is looked for.
  void add(const char* key, nlohmann::ordered_json value) {
    static_cast<std::vector<nlohmann::ordered_json::object_t::value_type>&>(to_).emplace_back(
        key, std::move(value));
  }

  nlohmann::ordered_json::object_t& to_;
};

class JsonReader {
 public:
  static constexpr bool kReads = true;
  explicit JsonReader(const nlohmann::ordered_json& from) : from_(from) {}

  template <typename T>
  void operator()(const char* key, T& value) {
    const auto found = from_.find(key);
    if (found != from_.end()) take(*found, value);
  }
  template <typename T>
  void or_null(const char* key, std::optional<T>& value) {
    const auto found = from_.find(key);
    if (found == from_.end()) return;
    T taken{};
    if (take(*found, taken)) value = std::move(taken);
  }
  template <typename T>
  void if_any(const char* key, std::optional<T>& value) {
    or_null(key, value);
  }
  template <typename T>
  void if_any(const char* key, std::vector<T>& values) {
    (*this)(key, values);
  }
  /// There when `key`, one of them, is.
  template <typename T>
  void beside(const char* key, std::optional<T>& value) {
    if (!from_.contains(key)) return;
    value.emplace();
    describe(*this, *value);
  }

  /// False when it is of another type; then `value` is as it was.
  template <typename T>
  static bool take(const nlohmann::ordered_json& from, T& value) {
    if constexpr (std::same_as<T, bool>) {
      if (!from.is_boolean()) return false;
      value = from.get<bool>();
      return true;
    } else if constexpr (std::integral<T>) {
      return take_whole(from, value);
    } else if constexpr (std::same_as<T, double>) {
      if (!from.is_number() || !std::isfinite(from.get<double>())) return false;
      value = from.get<double>();
      return true;
    } else if constexpr (std::same_as<T, std::string>) {
      if (!from.is_string()) return false;
      value = from.get<std::string>();
      return true;
    } else if constexpr (std::same_as<T, Value>) {
      value = value_from(from);
      return !from.is_null();
    } else {
      if (!from.is_object()) return false;
      JsonReader members(from);
      describe(members, value);
      return true;
    }
  }
  /// An element of another type has its place.
  template <typename T>
  static bool take(const nlohmann::ordered_json& from, std::vector<T>& values) {
    if (!from.is_array()) return false;
    values.clear();
    for (const auto& each : from) {
      T value{};
      if constexpr (std::same_as<T, double>) value = std::numeric_limits<double>::quiet_NaN();
      take(each, value);
      values.push_back(std::move(value));
    }
    return true;
  }
  template <typename T>
  static bool take(const nlohmann::ordered_json& from, std::map<std::string, T>& values) {
    if (!from.is_object()) return false;
    for (const auto& [key, each] : from.items()) {
      T value{};
      if (take(each, value)) values[key] = std::move(value);
    }
    return true;
  }
  static bool take(const nlohmann::ordered_json& from, std::vector<Count>& counts) {
    if (!from.is_object()) return false;
    for (const auto& [key, each] : from.items()) {
      Count count{.of = key};
      if (take(each, count.count)) counts.push_back(std::move(count));
    }
    return true;
  }

 private:
  template <std::integral T>
  static bool take_whole(const nlohmann::ordered_json& from, T& value) {
    if (from.is_number_unsigned()) {
      const auto number = from.get<std::uint64_t>();
      if (!std::in_range<T>(number)) return false;
      value = static_cast<T>(number);
      return true;
    }
    if (!from.is_number_integer()) return false;
    const auto number = from.get<std::int64_t>();
    if (!std::in_range<T>(number)) return false;
    value = static_cast<T>(number);
    return true;
  }

  const nlohmann::ordered_json& from_;
};

}  // namespace tw::record
