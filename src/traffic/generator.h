// SPDX-License-Identifier: Apache-2.0
// Plays a load over real sockets: starts flows at their time, never before it, and keeps account.
//
// Each of a few threads walks the same stream of flows and takes every n-th, so that they share
// nothing; a thread sleeps until shortly before the next start and spins for the rest. Connections
// are opened in advance and used again (the one that fell idle last first), or opened for each
// flow: then its completion time has the handshake in it. A flow begins when its first byte, or its
// connection request, is handed to the kernel; it ends when the sink's acknowledgement is read.
//
// Limits: one destination's flows may share at most kMostConnections connections a thread; when
// all are busy, flows wait and are late, which is reported. A paced `long` flow that was held up
// makes up for at most 100 ms.

#pragma once

#include "trainwire/traffic/outcome.h"
#include "trainwire/traffic/task.h"
#include "trainwire/transport/tcp/address.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tw::traffic {

/// Where flows to `name` go; an empty name takes every flow.
struct Destination {
  std::string name = {};
  transport::tcp::Endpoint endpoint;
};

/// While it plays.
struct Glance {
  std::int64_t started = 0;
  std::int64_t finished = 0;
  Bytes sent = {};
};

class Generator {
 public:
  /// Reads files that the task names. Throws SpecError, DataError, SystemError.
  Generator(SourceTask task, std::vector<Destination> destinations);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  /// Connects, and makes sure that the other ends take our token. Throws Error (they do not),
  /// SystemError (out of reach).
  void connect();
  /// Begins to play task.start after now. When `drain`, flows that have not finished at the end of
  /// the load's duration are waited for.
  void start(bool drain = false);
  /// Whether all threads have ended: the load is over, stop() was called, or something failed.
  bool is_over() const;
  Glance glance() const;
  /// Ends it, mid-flow if need be; soon. May be called from any thread.
  void stop();
  /// Waits for the end. Throws Error when it was a failure.
  Outcome finish();
  /// What was counted; also after a failure. REQUIRES: is_over().
  Outcome outcome() const;
  /// Becomes readable when it is over.
  int over_descriptor() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tw::traffic
