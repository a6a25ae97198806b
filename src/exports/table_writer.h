// SPDX-License-Identifier: Apache-2.0
// A table in one of the formats, written row by row.

#pragma once

#include "trainwire/timeline/rows.h"

#include <span>

namespace tw::exports {

class TableWriter {
 public:
  TableWriter() = default;
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;
  virtual ~TableWriter() = default;

  /// REQUIRES: a cell for each column of the table. Throws SystemError.
  virtual void row(std::span<const timeline::Cell> cells) = 0;
  /// The last call; without it nothing stays. Throws SystemError.
  virtual void finish(std::int64_t rows) = 0;
};

}  // namespace tw::exports
