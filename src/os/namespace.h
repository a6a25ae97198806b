// SPDX-License-Identifier: Apache-2.0
// Network namespaces without names: each lives as long as a descriptor or a process holds it, so a
// process that dies leaves none behind.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <cstdint>

namespace tw::os {

/// A new, empty network namespace (its loopback is down). The calling thread stays where it is.
/// Throws SystemError when the process may not make one.
FileDescriptor make_network_namespace();

/// The network namespace of the calling thread.
FileDescriptor current_network_namespace();

/// The kernel's number of a namespace, as in /proc/PID/ns/net: what the ledger records.
std::uint64_t namespace_number(const FileDescriptor& name_space);

/// Moves the calling thread into a network namespace until the end of the scope; where it is there already, no privilege is
/// needed. Sockets, sysctls and devices that it opens there belong to that namespace for good.
class InNetwork {
 public:
  explicit InNetwork(const FileDescriptor& name_space);
  ~InNetwork();
  InNetwork(const InNetwork&) = delete;
  InNetwork& operator=(const InNetwork&) = delete;

 private:
  FileDescriptor before_;  ///< closed where there was nothing to do
};

}  // namespace tw::os
