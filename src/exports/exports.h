// SPDX-License-Identifier: Apache-2.0
// A run folder or a sweep in the formats of other programs.
//
// Each table is read once, whatever the number of formats, and memory does not grow with it.
// Timelines and figures hold what they draw, which is capped.

#pragma once

#include "trainwire/result/output_folder.h"
#include "trainwire/timeline/timeline.h"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::exports {

enum class Format { Csv, Json, Parquet, Sqlite, Perfetto, Chrome, Figures };

/// In the order of the enumeration.
std::span<const std::string_view> format_names();
/// "csv,parquet" as formats. Throws SpecError naming the nearest one, or when there is none.
std::set<Format> parse_formats(std::string_view list);

struct Options {
  std::string run;
  std::string out;
  std::set<Format> formats;  ///< at least one
  result::IfThere if_there = result::IfThere::Refuse;
  timeline::TimelineOptions timeline = {};
  std::function<bool()> is_interrupted = [] { return false; };
};

struct Outcome {
  std::vector<result::Written> files;
  std::vector<std::string>
      missing_tables;  ///< that the run does not have; none when no format of tables was wanted
  std::vector<std::string> notes;  ///< what was left off or replaced, a sentence each
  bool is_interrupted = false;     ///< then only files that were whole by then are there
};

/// Next to the run: its path and "-export".
std::string default_place(const std::string& run);

/// Throws SystemError when the run cannot be read or the files cannot be written, DataError when a
/// table is not what the schema says. Files that were whole before an error stay.
Outcome export_run(const Options& options);

}  // namespace tw::exports
