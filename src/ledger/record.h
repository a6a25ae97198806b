// SPDX-License-Identifier: Apache-2.0
// What a ledger says: one JSON object a line, the first about the run itself, each further one
// about a thing of the run. Only ever appended to, so a run that was killed leaves whole lines and
// perhaps one torn one.

#pragma once

#include "trainwire/ledger/network.h"
#include "trainwire/os/child.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::ledger {

/// The process that holds the ledger. Numbers of processes mean something only until the next boot
/// and inside one pid namespace.
struct LedgerOwner {
  os::ProcessIdentity process = {};
  std::string boot = {};            ///< the kernel's id of this boot
  std::uint64_t pid_namespace = 0;  ///< as in /proc/PID/ns/pid
  std::uint64_t user_namespace = 0;
  std::string command = {};
  std::int64_t started_s = 0;  ///< since 1970
  bool operator==(const LedgerOwner&) const = default;
};

struct LedgerProcess {
  os::ProcessIdentity process = {};
  std::string role = {};
  bool operator==(const LedgerProcess&) const = default;
};

struct LedgerNetwork {
  NetworkIdentity identity = {};
  std::string name = {};
  bool operator==(const LedgerNetwork&) const = default;
};

/// A device whose queue is ours.
struct LedgerQueue {
  NetworkIdentity network = {};
  std::string device = {};
  bool operator==(const LedgerQueue&) const = default;
};

struct LedgerRecord {
  std::optional<LedgerOwner> owner = {};
  std::vector<LedgerProcess> processes = {};
  std::vector<LedgerNetwork> networks = {};
  std::vector<LedgerQueue> queues = {};
  std::vector<std::string> paths = {};
  int unread = 0;  ///< lines that are none of these
  bool operator==(const LedgerRecord&) const = default;
};

/// This process, now. Throws SystemError where /proc is missing.
LedgerOwner describe_owner(std::string_view command);
/// Whether process numbers that the owner wrote down mean the same to us.
bool shares_processes(const LedgerOwner& owner);
/// Whether we could see all that the owner may have left. Not from inside a user namespace of one
/// user, unless it is the owner's: processes in others are hidden there.
bool can_see_leftovers(const LedgerOwner& owner);

/// Lines, each with its end.
std::string line_of(const LedgerOwner& owner);
std::string line_of(const LedgerProcess& process);
std::string line_of(const LedgerNetwork& network);
std::string line_of(const LedgerQueue& queue);
std::string line_of_path(std::string_view path);

/// Any bytes are a ledger: what cannot be read is counted and otherwise ignored.
LedgerRecord parse_ledger(std::string_view text);

}  // namespace tw::ledger
