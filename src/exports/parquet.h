// SPDX-License-Identifier: Apache-2.0
// Tables as Apache Parquet files, after parquet.thrift and Encodings.md of apache/parquet-format.
//
// Flat: one column chunk a column, one data page (version 1) a chunk, values PLAIN, pages
// compressed with zstd. Types are INT64, DOUBLE and BYTE_ARRAY marked as UTF-8 text. Every column
// is OPTIONAL, as Arrow writes them: a page begins with a definition level for each row, which is a
// few bytes where all rows have a value. Row groups have counts of nulls, and bounds of integers,
// so that readers pass over groups. What tables and columns mean is in the file's key-value
// metadata.
//
// Limits: no dictionaries, no page index; zstd makes up for the first.

#pragma once

#include "trainwire/exports/table_writer.h"
#include "trainwire/result/output_folder.h"

#include <memory>

namespace tw::exports {

struct ParquetOptions {
  /// Rows and bytes held in memory at once; a row group ends with whichever comes first.
  std::int64_t group_rows = 131'072;
  std::size_t group_bytes = std::size_t{64} << 20;
};

/// NAME.parquet. REQUIRES: both outlive the writer.
std::unique_ptr<TableWriter> parquet_writer(result::OutputFolder& folder,
                                            const timeline::TableSource& table,
                                            const ParquetOptions& options = {});

}  // namespace tw::exports
