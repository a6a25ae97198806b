// SPDX-License-Identifier: Apache-2.0
// Which network namespace is which. The kernel soon gives the number of a namespace that is gone to
// a new one, perhaps another program's; its cookie it never gives again before the next boot.

#pragma once

#include "trainwire/os/child.h"
#include "trainwire/os/file_descriptor.h"

#include <cstdint>
#include <optional>

namespace tw::ledger {

struct NetworkIdentity {
  std::uint64_t number = 0;  ///< as in /proc/PID/ns/net: quick to compare, but used again
  std::uint64_t cookie = 0;  ///< 0 where the kernel has none (before Linux 5.14)
  bool operator==(const NetworkIdentity&) const = default;
};

/// Throws SystemError.
NetworkIdentity identify_network(const os::FileDescriptor& name_space);

/// The number of the network namespace a process lives in; nothing when it is gone or not ours to
/// look at.
std::optional<std::uint64_t> network_number(pid_t pid);

enum class Residence { Elsewhere, There, Unknown };

/// Whether a process lives in that very network. Unknown where the kernel has no cookies or the
/// network may not be entered to ask: a user's from inside another user namespace of the same user.
Residence residence(pid_t pid, const NetworkIdentity& network);

}  // namespace tw::ledger
