// SPDX-License-Identifier: Apache-2.0
// What a training moves, counted from its schedules.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace tw::workload {

/// What the rank that sends most sends in one step. In closed form: O(strands).
Bytes demand(const Training& training);

/// What crosses the network, from host to host, before the first step. In closed form.
Bytes start_bytes(const Training& training);

/// Bytes from rank to rank in all steps, warm-up and first model included: [from][to]. Walks all
/// transfers of a step, and of every step where ranks draw their peers.
std::vector<std::vector<std::int64_t>> bytes_by_rank(const Training& training);

/// The same row by row: calls visit(from, bytes by receiver) for every rank in order; receivers that
/// get nothing are left out. Holds one row at a time. O(strands) where a strand has one receiver.
using Row = std::map<int, std::int64_t>;
void for_each_row(const Training& training,
                  const std::function<void(int from, const Row& bytes)>& visit);

}  // namespace tw::workload
