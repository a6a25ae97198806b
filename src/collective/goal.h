// SPDX-License-Identifier: Apache-2.0
// What ranks must hold when an exchange has ended: what verify.h proves of a schedule, and what an
// executor can check of payloads whose contributions it knows.

#pragma once

#include "trainwire/collective/schedule.h"

namespace tw::collective {

/// What a rank's copy of a chunk must be.
struct Held {
  enum class What {
    Sum,   ///< every worker's contribution exactly once
    Copy,  ///< rank `of`'s, as it was at the start
    Open,  ///< not one thing only: a server's copy, or one of what the goal allows
  };
  What what;
  int of = 0;

  bool operator==(const Held&) const = default;
};

/// REQUIRES: 0 <= rank < schedule.ranks, 0 <= chunk < schedule.chunks.
Held held_in_the_end(const Schedule& schedule, int rank, int chunk);

}  // namespace tw::collective
