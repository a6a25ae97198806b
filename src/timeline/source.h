// SPDX-License-Identifier: Apache-2.0
// What there is to export: the tables of a run folder, or those of all points of a sweep joined.
//
// A sweep's tables get a leading column `point`, the folder of the point, by which they join one
// another; its `points` gets it too. What a point sets is a table of its own, `settings`, with one
// row a point and key, for points.csv holds it as one text.

#pragma once

#include "trainwire/record/run_file.h"
#include "trainwire/result/schema.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::timeline {

/// One CSV file of a table.
struct Part {
  std::string point;  ///< "" when the source is one run
  std::string path;   ///< of the file; for messages when there is `content`
  std::optional<std::string> content = {};
  std::optional<std::int64_t> recorded_rows = {};  ///< as run.json has it
};

struct TableSource {
  std::string name;
  std::string meaning;
  std::vector<result::Column> columns;
  bool has_point;  ///< the first column is the part's point
  std::vector<Part> parts;
};

/// A run of the source: the only one, or a point of the sweep.
struct RunPart {
  std::string point;
  std::string folder;
  record::RunFile file;
};

struct Source {
  std::string folder;
  record::RunFile file;
  bool is_sweep;
  std::vector<RunPart> runs;
  std::vector<TableSource> tables;  ///< that are there, in the schema's order
  std::vector<std::string> missing_tables;
  std::vector<std::string> notes;  ///< what of the folder could not be taken
};

/// Throws SystemError when there is no run, DataError when run.json is none of ours.
Source open_source(const std::string& folder);

/// Nullptr when the source has none of that name.
const TableSource* find_table(const Source& source, std::string_view name);

/// What `settings` of a point says: {"traffic.0.load", "0.3"} of "traffic.0.load=0.3"; a text is
/// without its quotes.
struct Setting {
  std::string key;
  std::string value;
};
Setting parse_setting(std::string_view text);

}  // namespace tw::timeline
