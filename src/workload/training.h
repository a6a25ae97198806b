// SPDX-License-Identifier: Apache-2.0
// A job of an experiment, resolved once: what every rank computes and exchanges, from the first
// model to the last step.
//
// Everybody who runs, counts or times a job starts here: trainer interprets its script (script.h)
// over sockets, play in virtual time, volume.h counts what it moves, predict bounds it. Names are
// looked up, defaults filled in, the strategy laid out; what is left depends on nothing else.
//
// Limits: one payload of 4-byte elements, the same on every rank (where ranks really train, an element
// may hold less or more than a gradient: learning.h); all workers compute alike but for
// jitter and one host of stragglers.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/workload/job.h"
#include "trainwire/workload/learning.h"
#include "trainwire/zoo/model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::workload {

using collective::Range;
using zoo::kElementBytes;

/// Instead of a bucket's number: the whole payload.
inline constexpr int kWholePayload = -1;

struct Training {
  std::string name;
  zoo::Model model = {};
  std::string strategy;  ///< of collective's catalogue
  collective::Arrangement arrangement;
  std::vector<Bucket> buckets = {};  ///< in the order in which backward fills them
  Compute compute = {};
  int straggler = -1;  ///< the host whose ranks compute slower; -1: none
  double straggler_factor = 1;
  std::int64_t steps = 0;  ///< after warm-up
  int warmup = 0;
  bool broadcast = true;  ///< ranks get their first model before the first step
  bool overlap = false;   ///< buckets are exchanged while backward goes on
  /// The next step's forward goes on with buckets that are there while others are exchanged.
  bool forward_overlap = false;
  int connections = 1;  ///< between two ranks that exchange gradients
  int side_connections = 0;
  Duration start = {};                    ///< after everybody is ready
  std::optional<Learning> learning = {};  ///< where ranks really train

  /// The strategy's row in the catalogue.
  const collective::Strategy& row() const { return collective::strategy(strategy); }
  int ranks() const { return arrangement.layout.ranks(); }
  /// Workers contribute; the ranks behind them are servers.
  int workers() const;
  bool is_server(int rank) const { return rank >= workers(); }
  /// Nobody waits for all others: each worker has its servers, or each rank its peers.
  bool asynchronous() const;

  std::int64_t elements() const;
  Bytes bytes() const { return Bytes(kElementBytes * elements()); }
  /// Of a bucket, or of kWholePayload.
  Range range(int bucket) const;
  /// When forward has used a bucket's parameters, after its begin: buckets come in the order of
  /// layers, the last one first, and share forward's time as they share backward's.
  Duration forward_end(int bucket) const;
  /// What a rank's compute times are multiplied by.
  double factor(int rank) const;

  bool operator==(const Training&) const = default;
};

/// Buckets are divided by the job's payload_divisor (spec/scale.h), each rounded up; the model
/// stays what it is. Throws SpecError when there is no such model, or the strategy cannot be laid
/// out as the job says.
Training training_of(const spec::Experiment& experiment, const spec::Job& job);

/// Has the job learn for real: its payload becomes what learning.h says. REQUIRES: buckets are those
/// of the model. Throws SpecError for what cannot be trained like that.
void make_learn(const spec::Job& job, Training& training);

/// What a bucket's exchange does; ranks that draw their peers draw them anew for each step.
collective::Schedule step_schedule(const Training& training, std::int64_t step = 0);

/// What brings the first model to the ranks, whole or bucket by bucket as start_buckets() says.
/// REQUIRES: start_buckets() is not empty.
collective::Schedule start_schedule(const Training& training);

/// What is exchanged before the first step: each bucket where servers hold a shard of each, the
/// whole payload where rank 0 holds the model; nothing when nobody needs another's.
std::vector<int> start_buckets(const Training& training);

}  // namespace tw::workload
