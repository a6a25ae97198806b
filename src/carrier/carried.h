// SPDX-License-Identifier: Apache-2.0
// A rank's side of its carrier: starts the program, makes the rank's wires, and asks in the end what
// the kernel counted.
//
// The wires are descriptors that behave like TCP connections (send, receive, poll, end of stream),
// so whoever exchanges gradients does not know who carries them.

#pragma once

#include "trainwire/carrier/assignment.h"
#include "trainwire/carrier/backend.h"
#include "trainwire/carrier/local.h"
#include "trainwire/os/child.h"
#include "trainwire/transport/control.h"
#include "trainwire/transport/tcp/mesh.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::carrier {

struct Carriage {
  std::string transport;  ///< is_carried
  std::string program;    ///< of it
};

class Carried {
 public:
  /// Starts the carrier, unless one launcher starts those of all ranks. Throws Error.
  Carried(const Carriage& carriage, Assignment assignment);

  /// What the other ranks must know.
  const nlohmann::json& contact() const { return contact_; }
  /// Has all wires made. Throws Error.
  std::vector<transport::tcp::Connection> connect(const std::vector<Contact>& ranks);
  /// What the carrier said of its failure, if it did.
  std::optional<std::string> failure() const;
  /// To be called when the rank has done its work, before anybody calls finish(): from now on no
  /// connection gets lost to the count. Throws Error.
  void hold();
  /// Ends it: what the kernel counted of its connections. REQUIRES: hold(). Throws Error.
  std::vector<TcpCount> finish();
  /// Processor time of the carrier so far.
  std::int64_t cpu_ns() const;

 private:
  void start(const std::vector<std::string>& arguments);
  void await();
  nlohmann::json hear() const;

  Carriage carriage_;
  Assignment assignment_;
  Meeting meeting_;
  os::Child child_;
  std::optional<transport::Control> control_ = {};
  pid_t pid_ = 0;  ///< of the carrier
  nlohmann::json contact_ = {};
};

}  // namespace tw::carrier
