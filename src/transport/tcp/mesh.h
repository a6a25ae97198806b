// SPDX-License-Identifier: Apache-2.0
// The connections of one rank: made all at once, each end sure of the other.
//
// Of two ranks the higher one connects. Every connection begins with a hello in both directions;
// one that does not speak the run's token is closed and forgotten.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/transport/tcp/hello.h"
#include "trainwire/transport/tcp/socket.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tw::transport::tcp {

/// One of the connections between this rank and another.
struct Connection {
  int peer = 0;
  int lane = 0;
  os::FileDescriptor socket = {};
};

struct Peering {
  Token token = {};
  int rank = 0;
  std::vector<Endpoint> endpoints = {};  ///< of all ranks
  std::vector<int> peers = {};           ///< ranks to be connected with
  int lanes = 1;                         ///< connections with each of them
  std::vector<Hello> more = {};  ///< single connections besides, by the other's rank and lane
  Duration patience = std::chrono::seconds(30);
  std::function<void()> look = {};  ///< called several times a second; may throw
};

/// Ranks that could not be reached in time.
class Unreachable : public Error {
 public:
  Unreachable(const std::string& what, std::vector<int> who) : Error(what), ranks(std::move(who)) {}
  std::vector<int> ranks;
};

/// By peer, then lane. Throws Unreachable that names who is missing when the patience is over,
/// SystemError when this machine refuses. REQUIRES: both ends name each other.
std::vector<Connection> connect_all(const Listener& listener, const Peering& peering);

}  // namespace tw::transport::tcp
