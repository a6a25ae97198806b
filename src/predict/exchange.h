// SPDX-License-Identifier: Apache-2.0
// The exchange of one step of a job: its schedule and layout, and what they put on hosts and pairs.

#pragma once

#include "trainwire/collective/count.h"
#include "trainwire/collective/layout.h"
#include "trainwire/collective/schedule.h"
#include "trainwire/predict/plan.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <vector>

namespace tw::predict {

/// A job laid out: the schedule that each bucket runs, and the elements of each bucket.
struct Exchange {
  collective::Layout layout;
  collective::Schedule schedule;
  std::vector<std::int64_t> buckets;
};

Exchange exchange_of(const workload::Training& training);

/// Counts of all buckets together, in elements.
collective::Count count(const Exchange& exchange);

/// Host pairs of all buckets together; empty beyond kMostPairs. `pair_count` is set either way.
std::vector<PairBytes> host_pairs(const Exchange& exchange, std::int64_t& pair_count);

}  // namespace tw::predict
