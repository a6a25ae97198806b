// SPDX-License-Identifier: Apache-2.0
// A value whose shape is not ours to fix: the resolved experiment, of which every version of the
// program knows other settings.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tw::record {

struct Value;
struct Member;
/// Not trivially copied, on purpose: libstdc++ 12 takes a variant of texts, vectors and trivial types
/// for one that is never without a value, and destroys what was never made when memory ends in the
/// middle of a copy.
struct Nothing {
  Nothing() = default;
  Nothing(const Nothing&) noexcept {}
  Nothing& operator=(const Nothing&) noexcept { return *this; }
  bool operator==(const Nothing&) const = default;
};
using List = std::vector<Value>;
using Members = std::vector<Member>;  ///< in the order of the document

struct Value {
  std::variant<Nothing, bool, std::int64_t, std::uint64_t, double, std::string, List, Members> is;
  bool operator==(const Value& other) const;
};

struct Member {
  std::string name;
  Value value;
  bool operator==(const Member& other) const;
};

/// The value at "network.hosts.value" or "jobs.0.model"; nullptr when there is none.
const Value* find(const Value& from, std::string_view path);

/// What it is, when it is that; a whole number is a number too.
std::optional<double> number_of(const Value* value);
std::optional<std::string> text_of(const Value* value);
/// Empty when it is no list; elements that are no texts are empty too.
std::vector<std::string> texts_of(const Value* value);

}  // namespace tw::record
