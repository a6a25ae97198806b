// SPDX-License-Identifier: Apache-2.0
// TOML as a tree of plain values that remember where they were written.
//
// The only door to the TOML library: readers, overrides and printers work on this tree, so that a
// value set on the command line is read, checked and reported like one written in the file.
// Tables keep the order of the file. Dates and times are `Absent`: no setting takes one.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tw::keys {

/// Where a value was written: a line of the file, or the --set of that number.
struct Place {
  int line = 1;
  int set = -1;  ///< -1: in the file
  bool operator==(const Place&) const = default;
};

struct Entry;
struct Node;
/// Not trivially copied, on purpose: libstdc++ 12 takes a variant of texts, vectors and trivial types
/// for one that always has a value, and destroys what was never made when a copy of it throws.
struct Absent {
  Absent() = default;
  Absent(const Absent&) noexcept {}
  Absent& operator=(const Absent&) noexcept { return *this; }
};
using List = std::vector<Node>;
using Table = std::vector<Entry>;

struct Node {
  std::variant<Absent, bool, std::int64_t, double, std::string, List, Table> value;
  Place place = {};
};

struct Entry {
  std::string key;
  Node node;
};

/// The entry's value, or null.
const Node* find(const Table& table, std::string_view key);
Node* find(Table& table, std::string_view key);

/// Reads a whole file. Throws SpecError "file:line:column: ..." on bad syntax.
Table read_tree(std::string_view text, std::string_view file);

/// Reads one value as --set gives it: TOML, or else the text itself as a string; nothing when it is
/// not UTF-8. Every node in it gets `place`.
std::optional<Node> read_value(std::string_view text, Place place);

/// One line of TOML that read_value() turns back into the same node. Absent gives "".
std::string print(const Node& node);
/// A key, quoted where it is not a bare word.
std::string print_key(std::string_view key);

}  // namespace tw::keys
