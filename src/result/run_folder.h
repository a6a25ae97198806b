// SPDX-License-Identifier: Apache-2.0
// The folder in which a run is kept: run.json and one CSV file for each table of schema.h.
//
// run.json says what made the folder, of what, and whether it is whole. It is written when the
// folder is taken ("complete": false) and replaced in one step by finish(), so a folder whose run
// was killed is readable and says that it is not whole. Files are put in place under their final
// names; run.json alone is renamed into place.
//
// A folder that is there already is used when it is empty. One of ours is replaced when the caller
// says so, and then only files that a run writes are removed; anything else is left alone.

#pragma once

#include "trainwire/result/input_file.h"
#include "trainwire/result/table_file.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tw::result {

/// What made the run.
struct Provenance {
  std::string command;                    ///< analyze, run, sim, predict
  std::vector<std::string> command_line;  ///< with the program's name
  std::string version;
  std::string commit;
  std::vector<InputFile> inputs = {};
};

enum class IfThere { Refuse, Replace };

class RunFolder {
 public:
  /// Takes the folder, creating it and its parents. A run of ours that is to be replaced stays
  /// until the first table() or finish(). Throws SystemError when it cannot be written, is no
  /// folder, holds something else, or holds a run and `if_there` refuses.
  RunFolder(std::string path, Provenance provenance, IfThere if_there);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  /// Before the first table() or finish() there is nothing to keep: gives the folder back as it
  /// was.
  ~RunFolder();

  const std::string& path() const { return path_; }

  /// The table of that name, created at the first call. REQUIRES: schema.h knows it. Throws
  /// SystemError.
  TableFile& table(std::string_view name);

  /// Closes the tables and writes the final run.json. `partial` says why the run is not whole, or
  /// is empty. The last call. Throws SystemError.
  void finish(const nlohmann::ordered_json& summary, std::string_view partial = "");

 private:
  nlohmann::ordered_json document() const;
  void write_document(const nlohmann::ordered_json& document) const;
  void begin();
  void remove_earlier_run() const;

  std::string path_;
  Provenance provenance_;
  std::string started_;
  bool created_ = false;
  bool replaces_ = false;
  bool begun_ = false;
  std::map<std::string_view, TableFile, std::less<>> tables_;
};

/// A run folder as it was found.
struct RunRecord {
  nlohmann::ordered_json document;  ///< run.json
  bool complete;
};

/// Throws SystemError when there is no run.json, DataError when it is none of ours or of a later
/// schema.
RunRecord read_run(const std::string& path);

}  // namespace tw::result
