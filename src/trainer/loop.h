// SPDX-License-Identifier: Apache-2.0
// What a connected rank does: it carries out its script (workload/script.h) over a clock and
// sockets, or times exchanges.

#pragma once

#include "trainwire/learn/data_set.h"
#include "trainwire/multicast/multicast.h"
#include "trainwire/trainer/exchange.h"
#include "trainwire/trainer/learnt.h"
#include "trainwire/trainer/memory.h"
#include "trainwire/trainer/task.h"
#include "trainwire/transport/tcp/mesh.h"
#include "trainwire/workload/casts.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::trainer {

/// Exchanges of one size.
struct BenchResult {
  std::int64_t elements = 0;
  std::int64_t time_ns = 0;  ///< mean of one
  std::int64_t cpu_ns = 0;   ///< of this process, mean of one
  std::int64_t wrong = 0;
};

/// What a rank saw of one pair that it was in.
struct PairResult {
  int peer = 0;
  std::int64_t round_trip_ns = 0;   ///< the least; 0 on the one that answered
  std::int64_t received_bytes = 0;  ///< from the other,
  std::int64_t time_ns = 0;         ///< in this time
  std::int64_t retransmitted = 0;   ///< packets, of what this rank sent
};

struct LoopResult {
  std::vector<WireCount> counts = {};  ///< by connection, side ones last; hellos are not counted
  std::int64_t checked = 0;            ///< elements that were verified
  std::int64_t wrong = 0;              ///< of these
  std::vector<BenchResult> bench = {};
  std::vector<PairResult> pairs = {};
  std::optional<Learnt> learnt = {};  ///< where it really trained
};

/// The casts (workload/casts.h) that a rank is in, carried by UDP multicast: each is one of the rank's
/// connections, by its lane.
class Casts {
 public:
  /// Joins all groups. Throws SystemError. REQUIRES: the task multicasts.
  explicit Casts(const Task& task);

  /// Their peer is the hub, or a member.
  std::vector<transport::tcp::Connection> take_connections();
  /// Ends the groups at the first call: what went over one of them. `sent` is the payload that was
  /// written into it.
  nlohmann::json told(int lane, std::int64_t sent);

 private:
  struct Own {
    workload::Cast cast;
    int number = 0;
  };
  const Task& task_;
  std::vector<Own> own_;
  std::vector<transport::tcp::Connection> connections_;
  std::optional<multicast::Multicast> multicast_;
};

/// What a rank is connected by.
struct RankConnections {
  std::vector<transport::tcp::Connection> gradient = {};
  std::vector<transport::tcp::Connection> side = {};
  std::shared_ptr<Casts> casts = {};  ///< carries those gradients whose lanes are casts
  /// Processor time of whoever carries for the rank; may be empty.
  std::function<std::int64_t()> carrier_cpu_ns = {};
};
/// Tells them apart.
RankConnections sorted_out(std::vector<transport::tcp::Connection> all);

/// Lanes between two ranks that the task needs.
int lanes_of(const Task& task);

/// A checkpoint that was due.
struct Saved {
  std::int64_t step = 0;  ///< from which it lets a job go on
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;
  std::string problem = {};  ///< why it was not written; "" when it was
};

/// What a loop calls; all but `leave` may be empty.
struct LoopHooks {
  std::function<void(std::int64_t step)> told = {};  ///< a step begins
  std::function<void()> leave = {};  ///< the work is done; returns when everybody's is
  /// Waits for a time of CLOCK_MONOTONIC, and may throw Halted.
  std::function<void(std::int64_t monotonic_ns)> sleep_until = {};
  /// Called often while the rank waits for others; may throw Halted.
  std::function<void()> look = {};
  std::function<void(const Saved&)> saved = {};
  /// The group has its model; how many bytes this rank sent for it.
  std::function<void(std::int64_t bytes)> synchronised = {};
};

/// `memory` holds what is left when it throws. `data` is what a job that really trains learns from.
/// Throws Error, PeerLost, Halted.
LoopResult run_loop(const Task& task, const RankConnections& connections, const LoopHooks& hooks,
                    Memory& memory, const learn::DataSet* data = nullptr);

}  // namespace tw::trainer
