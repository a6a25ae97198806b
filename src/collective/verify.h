// SPDX-License-Identifier: Apache-2.0
// Proof that a schedule does what its goal says, by executing it symbolically.
//
// The state is, for each rank and chunk, how often each worker's contribution is in that copy.
// Every transfer of every round is applied; then the goal is compared. The verifier also proves
// what an executor relies on: each transfer stands in the programs of both its ends and of nobody
// else, no rank sends to itself, no copy is written twice in one round except by sums, none is read
// in the round that sums into it or replaces it unless two ranks exchange it, rounds lie in [0,
// schedule.rounds) and the last one is used, and `depth` is the true length of the longest chain.
//
// In an asynchronous parameter server, rounds order only the transfers of one worker. There the
// goal is proven for the given order and for two others: workers in reverse, and all in step.
//
// Cost: O(transfers * workers) time and O(ranks * chunks * workers) memory: for tests and some
// hundred ranks, not for 100,000.

#pragma once

#include "trainwire/collective/schedule.h"

#include <string>
#include <vector>

namespace tw::collective {

/// Every way in which the schedule falls short, in words ("rank 3 holds worker 1's contribution to
/// chunk 2 twice"), at most 20. Empty: proven. Faults of form (programs that do not match, rounds
/// out of range) are reported alone, because execution would only repeat them.
std::vector<std::string> faults(const Schedule& schedule);

}  // namespace tw::collective
