// SPDX-License-Identifier: Apache-2.0
// The least time in which a network can carry the exchange of one step, and the links that set it.
//
// Two bounds, of which the longer holds. The links: those that need longest for what must pass
// them, host links as well as all that join a leaf, a pod or one side to the rest
// (network/limits.h), and one way across for the last byte. The chain: where every rank has a host
// of its own, the schedule's dependent transfers, each a smallest chunk at the fastest pair's rate
// and one way.
//
// Limits: switches may spread flows as they like, so the bound holds for the luckiest hashing.
// Where pairs are too many to list (kMostPairs) host links alone are looked at.

#pragma once

#include "trainwire/collective/count.h"
#include "trainwire/network/limits.h"
#include "trainwire/network/network.h"
#include "trainwire/predict/exchange.h"
#include "trainwire/predict/plan.h"

#include <optional>
#include <span>

namespace tw::predict {

struct ExchangeBound {
  Duration time = {};
  std::optional<network::Bottleneck> bottleneck = {};  ///< nothing when nothing crosses the network
};

/// `connections`: between each pair of ranks. `pairs`: of the exchange, or none (see Limits).
ExchangeBound exchange_bound(const network::Network& network, const Exchange& exchange,
                             const collective::Count& count, std::span<const PairBytes> pairs,
                             int connections);

}  // namespace tw::predict
