// SPDX-License-Identifier: Apache-2.0
// The folder in which a run is kept: run.json and one CSV file for each table of result/schema.h.
//
// run.json says what made the folder, of what, and whether it is whole. It is written when the
// folder is taken ("complete": false) and replaced in one step by finish(), so a folder whose run
// was killed is readable and says that it is not whole. Files are put in place under their final
// names; run.json alone is renamed into place.
//
// A folder that is there already is used when it is empty. One of ours is replaced when the caller
// says so, and then only files that a run writes are removed; anything else is left alone.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/record/run_file.h"
#include "trainwire/result/if_there.h"
#include "trainwire/result/input_file.h"
#include "trainwire/result/table_file.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tw::record {

/// What makes the run.
struct Maker {
  std::string command;                    ///< analyze, run, exec
  std::vector<std::string> command_line;  ///< with the program's name
  std::string version;
  std::string commit;
  std::vector<result::InputFile> inputs = {};
};

class RunFolder {
 public:
  /// Takes the folder, creating it and its parents. A run of ours that is to be replaced stays
  /// until the first table() or finish(). Throws SystemError when it cannot be written, is no
  /// folder, holds something else, or holds a run and `if_there` refuses.
  RunFolder(std::string path, Maker maker, result::IfThere if_there);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  /// Before the first table() or finish() there is nothing to keep: gives the folder back as it
  /// was.
  ~RunFolder();

  const std::string& path() const { return path_; }

  /// The table of that name, created at the first call. REQUIRES: result/schema.h knows it. Throws
  /// SystemError.
  result::TableFile& table(std::string_view name);

  /// Closes the tables and writes the final run.json. `partial` says why the run is not whole, or
  /// is empty. The last call. Throws SystemError.
  void finish(const Run& run, std::string_view partial = "");

 private:
  RunFile begun() const;
  void write(const RunFile& file, bool ended) const;
  void begin();
  void remove_earlier_run() const;

  std::string path_;
  os::FileDescriptor lock_;  ///< on the folder, as long as it is written
  Maker maker_;
  std::string started_;
  bool created_ = false;
  bool replaces_ = false;
  bool has_begun_ = false;
  std::map<std::string_view, result::TableFile, std::less<>> tables_;
};

}  // namespace tw::record
