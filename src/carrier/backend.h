// SPDX-License-Identifier: Apache-2.0
// The frame of a carrier's program: what is the same for every library.
//
// A carrier takes bytes from its rank's local streams, has its library bring them to the other
// ranks' carriers, and hands over what comes: each wire an ordered, reliable stream, as a TCP
// connection is. Strategies, sums and order stay the rank's own, so that what differs between
// transports is how bytes travel and nothing else.
//
// Limits: two copies more than a library that is called in place, and another process's time.

#pragma once

#include "trainwire/carrier/assignment.h"
#include "trainwire/os/file_descriptor.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tw::carrier {

/// The local end of one wire.
struct LocalWire {
  Wire wire;
  os::FileDescriptor stream;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// What the other ranks' carriers must know to reach this one.
  virtual nlohmann::json contact() = 0;
  /// Throws when somebody cannot be reached.
  virtual void connect(const std::vector<Contact>& ranks) = 0;
  /// Begins to carry, in threads of its own.
  virtual void carry(std::vector<LocalWire> wires) = 0;
  /// Ends all connections; nothing is under way any more.
  virtual void stop() = 0;
};

using BackendMaker = std::function<std::unique_ptr<Backend>(const Assignment&)>;

/// Carries for the rank that waits on the name until it has had enough: the program's exit code.
int run_carrier(const std::string& name, const BackendMaker& make);

}  // namespace tw::carrier
