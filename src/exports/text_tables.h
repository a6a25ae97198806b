// SPDX-License-Identifier: Apache-2.0
// Tables as text: CSV with a header (RFC 4180, line feeds), and JSON Lines with an object a row.

#pragma once

#include "trainwire/exports/table_writer.h"
#include "trainwire/result/output_folder.h"

#include <memory>
#include <string>
#include <string_view>

namespace tw::exports {

/// NAME.csv. Numbers stay as they were written. REQUIRES: both outlive the writer.
std::unique_ptr<TableWriter> csv_writer(result::OutputFolder& folder,
                                        const timeline::TableSource& table);
/// NAME.jsonl. A field without a value is null.
std::unique_ptr<TableWriter> json_lines_writer(result::OutputFolder& folder,
                                               const timeline::TableSource& table);

/// Appends a JSON text with its quotes. REQUIRES: `text` is UTF-8.
void append_json(std::string& line, std::string_view text);

}  // namespace tw::exports
