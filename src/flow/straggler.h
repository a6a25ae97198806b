// SPDX-License-Identifier: Apache-2.0
// The host that computes longer than the others, so that all wait for it although no link is slow.
//
// A host's compute time in a step is what passes between the last gradient byte that it receives in
// the step before and the first message that it sends in this one. A message of any size counts, on
// either direction of the connections that carry gradients: with a rendezvous protocol the data of
// a straggler's predecessor is late too, but its request to send, or its readiness to receive, is
// not.

#pragma once

#include "trainwire/flow/channel.h"
#include "trainwire/flow/exchange.h"
#include "trainwire/flow/traffic.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::flow {

/// Median compute time of a host, and how much longer than the median of the others it is.
struct ComputeTime {
  int host;
  double typical_s;
  double excess_s;
  double slowest_share;  ///< of the steps in which it is the slowest
};

/// `hosts` are those whose first message does not wait for others: all of a ring, the leaves of a
/// tree, the workers of a server.
std::vector<ComputeTime> compute_times(const Exchanges& exchanges,
                                       std::span<const Channel> channels, const Traffic& traffic,
                                       const std::vector<int>& hosts);

struct LateHost {
  int host;
  double delay_s;
  double confidence;
  std::string evidence;
};

/// A delay of up to `explained_s` has another cause: hosts next to a slow link begin late by the
/// time that one round takes on it.
std::optional<LateHost> find_straggler(const Exchanges& exchanges,
                                       std::span<const Channel> channels, const Traffic& traffic,
                                       const std::vector<int>& hosts, double explained_s = 0);

}  // namespace tw::flow
