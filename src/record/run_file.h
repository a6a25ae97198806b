// SPDX-License-Identifier: Apache-2.0
// run.json of a run folder: the record, and what made it.

#pragma once

#include "trainwire/record/run.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::record {

/// A file that the run was made from.
struct Input {
  std::string path = {};
  std::optional<std::int64_t> bytes = {};  ///< nothing for a pipe
  std::optional<std::string> hash = {};
  bool operator==(const Input&) const = default;
};

struct Provenance {
  std::vector<std::string> command_line = {};
  std::string version = {};
  std::string commit = {};
  std::string started = {};  ///< "2026-11-15T18:59:44Z"
  std::vector<Input> inputs = {};
  std::string input_hash = {};  ///< how the hashes were made
  bool operator==(const Provenance&) const = default;
};

struct RunFile {
  std::string command = {};  ///< analyze, run, exec...
  bool complete = false;
  std::optional<std::string> partial = {};  ///< why it is not whole; a killed run cannot say
  std::optional<Provenance> provenance = {};
  std::map<std::string, std::int64_t> rows = {};  ///< of each table
  /// Of each table, as result::describe_input() makes them; nothing before the run's end.
  std::optional<std::map<std::string, std::string>> hashes = {};
  Run summary = {};  ///< empty before the run's end
  /// run.json itself, for those who pass it on: with what this version does not know.
  std::string text = {};

  bool is_sweep() const { return summary.points.has_value(); }
};

/// Throws SystemError when there is no run.json, DataError when it is none of ours or of a later
/// schema.
RunFile read_run(const std::string& folder);

/// Throws DataError when a table is not what the run has written: cut, emptied, replaced, edited.
/// Runs that did not end are not judged, nor those of versions that kept no hashes.
void require_unchanged(const std::string& folder, const RunFile& file);

/// Whether the folder has a run.json of ours.
bool is_run(const std::string& folder);
/// Whether there is a run.json that says nothing any more: a run's whose machine lost its power before
/// the disk had it.
bool is_cut_off(const std::string& folder);

/// run.json of a run that has begun, or of one that has ended.
enum class Stage { Begun, Ended };
std::string text_of(const RunFile& file, Stage stage);

/// Of a document that is known to be ours.
RunFile run_file_from(const nlohmann::ordered_json& document);

/// run.json as it was found, and its parts: null where there is none.
nlohmann::ordered_json document_of(const RunFile& file);
nlohmann::ordered_json provenance_document(const RunFile& file);
nlohmann::ordered_json summary_document(const RunFile& file);
/// The same without its lists of times, which may be long.
nlohmann::ordered_json summary_without_times(const RunFile& file);

}  // namespace tw::record
