// SPDX-License-Identifier: Apache-2.0
// The runs below the served folder, newest first.
//
// A run's entry is kept until its run.json, or the file that tells of it while it goes on, changes:
// a list of thousands of runs costs a walk through the folders.
//
// Limits: folders are searched kMostDepth deep, without following symbolic links; a run's own
// folders (a sweep's points) are not listed; at most kMostRuns runs, those last written.

#pragma once

#include "trainwire/record/run_file.h"
#include "trainwire/serve/live.h"
#include "trainwire/serve/root.h"

#include <nlohmann/json.hpp>

#include <map>
#include <mutex>
#include <string>

namespace tw::serve {

inline constexpr std::size_t kMostRuns = 2000;
inline constexpr int kMostDepth = 4;

/// May be called by several threads.
class RunList {
 public:
  explicit RunList(const Root& root) : root_(root) {}

  /// The document of /api/runs.
  nlohmann::ordered_json document();
  /// Whether a run goes on. REQUIRES: root.folder_of(id) found it.
  bool is_running(const std::string& id);
  /// Of how many runs the files were read since the beginning.
  std::size_t reads() const { return reads_; }

 private:
  struct Known {
    FileStamp run;
    FileStamp live;
    std::string live_file;
    nlohmann::ordered_json entry;
    bool may_run = false;         ///< not finished, and has not said that it ended
    std::int64_t silence_ns = 0;  ///< after which it is taken to have stopped
  };

  const Known& known(const std::string& id);
  nlohmann::ordered_json entry(const std::string& id);
  Known read(const std::string& id) const;

  const Root& root_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;
  std::size_t reads_ = 0;
};

/// The run of a folder. Throws SystemError or DataError when it is not there, none of ours, or
/// larger or deeper than what a run writes.
record::RunFile read_modest_run(const std::string& folder);

}  // namespace tw::serve
