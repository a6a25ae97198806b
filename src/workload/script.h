// SPDX-License-Identifier: Apache-2.0
// What a rank does in a step, as data: a list of acts that somebody carries out, one after another.
// The trainer does so with a clock and sockets, play in virtual time; a bound is the longest path.
//
//   worker, in step          forward | agree | backward to bucket 0, 1, ... | begin 0, await 0, ...
//   the same, overlapping    forward | agree | backward to 0, begin 0, to 1, begin 1, ... | await
//                            all
//   forward overlaps         need n, forward of n, need n-1, forward of n-1, ... | agree | backward
//                            and begin as above; nothing is awaited
//   server, in step          agree | begin 0, await 0, ...
//   ranks that draw peers    forward | backward to the end | pull
//   asynchronous server      serve, once for all steps
//
// Workers whose servers answer each for itself do as others do, but agree on nothing. Inside an
// exchange collective/cursor.h says what happens. A step's exchanges are done one after another, in
// the order in which they are begun; where forward overlaps, the last bucket goes first of those that
// are begun, as forward needs it first, and all ranks agree on that order (play/turns.h).

#pragma once

#include "trainwire/workload/training.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tw::workload {

enum class What {
  Forward,   ///< compute until the end of forward; of a bucket: until its layers are done
  Need,      ///< until the bucket has been exchanged in the step before
  Backward,  ///< compute until the bucket is filled; of the whole payload: until backward's end
  Agree,     ///< tell everybody on the side connections, and hear from them
  Begin,     ///< have the bucket exchanged, after those begun before
  Await,     ///< until the bucket has been exchanged; of the whole payload: until all have
  Update,    ///< the sums become the model's next step
  Pull,      ///< get the payload of the peer that this step draws, and average it with one's own
  Serve,     ///< add what any worker pushes, in the order of arrival, and answer it; all steps
};

/// What a rank's log calls the time of an act; acts of one phase follow each other.
enum class Phase { None, Forward, Backward, Wait, Update };

struct Act {
  What what;
  int bucket = kWholePayload;
  Phase phase = Phase::None;
  bool operator==(const Act&) const = default;
};

/// Every step's. script_repeats() says how often.
std::vector<Act> step_script(const Training& training, int rank);

/// How often the rank does its script: once for each step, warm-up included, or once for all.
std::int64_t script_repeats(const Training& training, int rank);

/// Who is at the other end of each of a rank's side connections: every rank keeps some with the
/// first one, and that one with the second.
std::vector<int> side_peers(const Training& training, int rank);

/// "compute until bucket 3 is filled".
std::string text_of(const Act& act);

}  // namespace tw::workload
