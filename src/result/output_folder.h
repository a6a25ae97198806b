// SPDX-License-Identifier: Apache-2.0
// The folder that exported files are put into.
//
// A file is written under a temporary name and renamed when it is whole. export.json lists the
// files that we have put there; these are replaced by the next export, and anything else is left
// alone unless the caller says otherwise.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/result/if_there.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tw::result {

struct Written {
  std::string name;    ///< inside the folder
  std::string format;  ///< csv, json, ...
  std::optional<std::int64_t> rows = {};
  std::int64_t bytes = 0;
};

class OutputFolder {
 public:
  /// Creates the folder and its parents. Throws SystemError when it cannot be, is no folder, or
  /// holds files but no export and `if_there` refuses.
  OutputFolder(std::string path, result::IfThere if_there);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  /// Takes the folder away again when we created it and nothing came of it.
  ~OutputFolder();

  const std::string& path() const { return path_; }
  const std::vector<Written>& written() const { return written_; }

  /// Where the file of that name, maybe in a folder of its own ("figures/x.csv"), is to be written
  /// until it is whole. Throws SystemError when something that is not ours is in its place.
  std::string temporary(const std::string& name);
  /// Gives what is at temporary(name) its name; bytes are filled in. Throws SystemError.
  void put(Written file);

 private:
  void write_list();

  std::string path_;
  result::IfThere if_there_;
  bool created_ = false;
  std::set<std::string, std::less<>> ours_;
  std::vector<Written> written_;
};

/// One file while it is being written; disappears unless put() was called.
class OutputFile {
 public:
  /// Throws SystemError. REQUIRES: `folder` outlives the file.
  OutputFile(OutputFolder& folder, std::string name, std::string format);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Throws SystemError.
  void write(std::string_view bytes);
  std::int64_t bytes() const { return bytes_; }
  /// Stores everything; the last call. Throws SystemError.
  void put(std::optional<std::int64_t> rows = {});

 private:
  void flush();

  OutputFolder* folder_;
  Written file_;
  std::string path_;
  os::FileDescriptor descriptor_;
  std::string pending_;
  std::int64_t bytes_ = 0;
};

/// Removes a file when it goes, if the file is still there.
class RemovedAtEnd {
 public:
  explicit RemovedAtEnd(std::string path) : path_(std::move(path)) {}
  RemovedAtEnd(const RemovedAtEnd&) = delete;
  RemovedAtEnd& operator=(const RemovedAtEnd&) = delete;
  ~RemovedAtEnd();

 private:
  std::string path_;
};

}  // namespace tw::result
