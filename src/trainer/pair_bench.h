// SPDX-License-Identifier: Apache-2.0
// Two ranks at a time and nobody in two pairs (workload/pair_rounds.h): how long a message and its
// answer take, and how much goes through in either direction, alone.
//
// A rank goes on to its next pair as soon as this one is done; the other's first answer says that it
// is there too. What a receiver counts begins when a quarter of the time is over: TCP has grown its
// window by then.

#pragma once

#include "trainwire/trainer/loop.h"

namespace tw::trainer {

/// Throws PeerLost. REQUIRES: task.pairs, and a connection with every other rank.
LoopResult run_pairs(const Task& task, const RankConnections& connections, const LoopHooks& hooks);

}  // namespace tw::trainer
