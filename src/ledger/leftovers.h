// SPDX-License-Identifier: Apache-2.0
// Removing what killed runs have left. Emulated networks have no names and programs end with the
// process that started them, so there is seldom anything; the ledgers are the proof.
//
// Touched are only: processes that a dead run's ledger names, by number and start time; processes
// that live in a network of its, by the network's cookie; queues of devices of this network that are
// its; its temporary files; the ledger.

#pragma once

#include <string>
#include <vector>

namespace tw::ledger {

struct DeadRun {
  std::string id = {};
  std::string command = {};
  std::vector<std::string> removed = {};  ///< in words; empty when only the ledger was left
  bool operator==(const DeadRun&) const = default;
};

struct ClearedLeftovers {
  std::vector<DeadRun> runs = {};       ///< dead ones, by id
  int living = 0;                       ///< runs that were left alone
  std::vector<std::string> notes = {};  ///< what was strange, in words
};

struct ClearOptions {
  bool dry_run = false;  ///< say what would be removed
};

/// Cleans up after all runs whose ledgers lie in `folder` (state_folder()). Nothing is done, and
/// nothing reported, when there is no such folder. To be called before
/// os::become_root_of_own_namespace(), which hides what other runs left. Throws SystemError when
/// the folder is not ours.
ClearedLeftovers clear_leftovers(const std::string& folder, const ClearOptions& options = {});

}  // namespace tw::ledger
