// SPDX-License-Identifier: Apache-2.0
// What a training job will put on the network, and the least time that takes: no clock, no packets.
//
// Bytes are gradient payload as the schedule moves it, of the full-size job (the run's `scale` is
// not applied). Times are bounds: no transport is faster on these links, real ones are slower.
//
// Limits: headers, acknowledgements and control connections are not in the bytes (TCP over
// Ethernet adds 66 to 78 bytes to each 1,448); cross traffic and other jobs are ignored; pair
// averaging is given as the expectation over its random choice of peers, rounded to bytes.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/network/limits.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::predict {

struct PairBytes {
  int from;
  int to;
  Bytes bytes;
  bool operator==(const PairBytes&) const = default;
};

/// One step's exchange: all buckets together.
struct StepPlan {
  Bytes total;       ///< over the network
  Bytes local;       ///< between ranks of one host: not on the network
  Bytes rank_sent;   ///< by the rank that sends most, local transfers included
  Bytes link_bytes;  ///< on the busiest host link, in its busier direction
  int busiest_host;
  std::int64_t transfers;
  std::int64_t rounds;
  int buckets;
  /// Directed host pairs that carry bytes, by sender then receiver. Empty when there are more than
  /// kMostPairs of them: then only `pair_count` tells.
  std::vector<PairBytes> pairs;
  std::int64_t pair_count;
};
inline constexpr std::int64_t kMostPairs = 1'000'000;

/// Directed five-tuples the job will show, as the TUM study counts them.
struct FlowPlan {
  std::int64_t gradient;         ///< "big" flows
  std::int64_t acknowledgement;  ///< reverse directions that carry no gradients
  std::int64_t side;             ///< control connections, both directions
};

/// Bytes of a whole training as doubles: 100,000 ranks pass 2^63 within reach of real step counts.
struct TrainingPlan {
  std::int64_t steps;
  double total_bytes;  ///< of the steps, without what follows
  double warmup_bytes;
  double broadcast_bytes;  ///< the initial model to all ranks
  /// Share of all bytes that passes before the first counted step.
  double share_before;
};

struct JobPlan {
  std::string name;
  std::string model;
  std::string model_source;
  std::int64_t parameters;
  std::int64_t trainable;
  Bytes gradient_bytes;
  std::string strategy;
  int ranks;
  int hosts;  ///< that hold a rank
  StepPlan step;
  FlowPlan flows;
  TrainingPlan training;
  workload::Compute compute;
  Duration exchange_bound;
  /// The links that set it (bound.h); nothing when nothing crosses the network.
  std::optional<network::Bottleneck> bottleneck;
  Duration iteration_bound;
  /// Of the busiest link, so that the exchange takes as long as compute; nothing when there is no
  /// compute.
  std::optional<BitRate> required_bandwidth;
};

/// Throws SpecError where the strategy cannot be laid out as the job says.
JobPlan plan(const spec::Experiment& experiment, const spec::Job& job);

}  // namespace tw::predict
