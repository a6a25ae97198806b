// SPDX-License-Identifier: Apache-2.0
// The tables of a run folder and their columns: the one list from which headers are written,
// `trainwire schema` speaks and docs/formats.md is checked.
//
// A column's name carries its unit as a suffix (_ns, _s, _bytes, _bps); a table lives in NAME.csv.
// Adding a column or a table keeps kSchema; changing what one means raises it.

#pragma once

#include <span>
#include <string_view>

namespace tw::result {

inline constexpr int kSchema = 1;

enum class Type { Integer, Real, Text };

struct Column {
  std::string_view name;
  Type type;
  std::string_view unit;     ///< "" for names, counts and yes-or-no
  std::string_view meaning;  ///< a sentence without its full stop
};

struct Table {
  std::string_view name;
  std::string_view meaning;
  std::span<const Column> columns;
};

/// In the order in which they are documented.
std::span<const Table> tables();
/// Nullptr when there is none of that name.
const Table* find_table(std::string_view name);

std::string_view name_of(Type type);

}  // namespace tw::result
