// SPDX-License-Identifier: Apache-2.0
// What the kernel counted of a process's TCP connections, whoever opened them: the second count
// beside the wire's where a library speaks its own protocol.
//
// Limits: connections that were closed before they were held are not seen.

#pragma once

#include "trainwire/carrier/assignment.h"
#include "trainwire/os/file_descriptor.h"

#include <string>
#include <vector>

namespace tw::carrier {

/// Descriptors of the TCP connections that this process has now.
std::vector<int> own_connections();

/// Keeps every TCP connection that this process has now, so that it can be asked after its owner has
/// closed it.
class HeldConnections {
 public:
  /// Throws SystemError.
  HeldConnections();
  /// Waits until their owner has closed all of them, but not for long.
  void await_closing() const;
  std::vector<TcpCount> counts() const;

 private:
  struct Held {
    int original = -1;
    os::FileDescriptor copy;
    std::string from;  ///< names are gone once a connection has ended
    std::string to;
  };
  std::vector<Held> held_;
};

}  // namespace tw::carrier
