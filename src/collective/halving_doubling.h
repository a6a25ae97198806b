// SPDX-License-Identifier: Apache-2.0
// Halving and doubling as a part of other strategies, and the ranks that take part: strategies that
// pair ranks by the bits of their numbers need a power of two of them.
//
// The core is the largest power of two of ranks that fits. Of the first 2 * extras ranks, every
// second one is an extra, and its neighbour stands in the core for both: places in the core are
// numbered in rank order.

#pragma once

#include "trainwire/collective/schedule.h"

#include <cstdint>
#include <optional>

namespace tw::collective {

/// Which of two neighbours stands in the core for both.
enum class Standing { Even, Odd };

struct Core {
  int size;
  int extras;
  int steps;  ///< log2 of size
  Standing standing;

  /// The two of a pair, for its lower rank. REQUIRES: lower < 2 * extras, and even.
  int stands(int lower) const { return lower + (standing == Standing::Odd ? 1 : 0); }
  int extra(int lower) const { return lower + (standing == Standing::Odd ? 0 : 1); }
};

Core core_of(int ranks, Standing standing);

/// Nothing for an extra.
std::optional<int> place_in_core(const Core& core, int rank);

int rank_in_core(const Core& core, int place);

/// Recursive halving, then doubling, of `core.size` chunks in rounds [first_round, first_round +
/// 2 * core.steps): 4 strands for each step. `place` is that of `rank`.
void append_halving_doubling(Program& program, const Core& core, int rank, int place,
                             std::int64_t first_round);

}  // namespace tw::collective
