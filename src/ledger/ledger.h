// SPDX-License-Identifier: Apache-2.0
// The list of everything that a run has made and that could outlive it: a file that vanishes with
// the run. Should the run be killed, clear_leftovers() finds the file, and by it what is left.
//
// The file is locked as long as the run lives, so that nobody takes a living run for a dead one.

#pragma once

#include "trainwire/os/child.h"
#include "trainwire/os/file_descriptor.h"

#include <string>
#include <string_view>

namespace tw::ledger {

class Ledger {
 public:
  /// Opens a new ledger in the folder (state_folder()). `command` is for people. Throws SystemError
  /// when it cannot be written, as everything below.
  Ledger(const std::string& folder, std::string_view command);
  /// Removes the file, in the process that made it.
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// Six letters and digits that no other run of this user has at this time.
  const std::string& id() const { return id_; }

  void add(const os::ProcessIdentity& process, std::string_view role);
  void add_namespace(const os::FileDescriptor& network, std::string_view name);
  /// A device of this network whose queue is ours (queue.h).
  void add_queue(const std::string& device);
  /// A temporary file or folder, in the folder of ledgers or the system's for temporary files.
  /// REQUIRES: the path is absolute.
  void add_path(const std::string& path);

 private:
  void append(std::string_view line);
  /// False when the id is taken.
  bool create();

  std::string folder_name_;
  os::FileDescriptor folder_;
  std::string id_;
  os::FileDescriptor file_;
  pid_t maker_ = 0;
};

}  // namespace tw::ledger
