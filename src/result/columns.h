// SPDX-License-Identifier: Apache-2.0
// A table written from structs: each column by its name, with what of a struct it holds.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/result/table_file.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace tw::result {

template <typename Row>
struct Filled {
  std::string_view column;
  Cell (*of)(const Row&);  ///< a text in it lives as long as the row
};

/// REQUIRES: `columns` are the table's, in its order. Throws SystemError.
template <typename Row, std::size_t N>
void write_row(TableFile& table, const std::array<Filled<Row>, N>& columns, const Row& row) {
  std::array<Cell, N> cells;
  for (std::size_t i = 0; i < N; ++i) {
    check(table.is_column(i, columns[i].column), "columns are written in the schema's order");
    cells[i] = columns[i].of(row);
  }
  table.row(cells);
}

}  // namespace tw::result
