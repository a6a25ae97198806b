// SPDX-License-Identifier: Apache-2.0
// The pauses of a byte stream that lie at multiples of one distance and are the longest there.
//
// Found by dynamic programming: a chain links pause to pause, a link spans one distance, or a few
// where pauses between are invisible, or breaks the rhythm at a price. Cost O(pauses) for each
// distance, because the places that links of k distances come from only move forward.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tw::rhythm {

/// Before burst number `burst`, after `at` bytes. Both ends of the stream count as pauses as long
/// as the longest.
struct Pause {
  double at;
  double gap_ns;
  double quiet_ns;  ///< of it, when nothing was received; and a tenth of the rest
  double busy_ns;   ///< time in bursts before it
  std::size_t burst;
  bool is_end;
  double worth;       ///< to a chain that passes here, by what was quiet of it
  double full_worth;  ///< the same by its whole length
};

/// From pause number `from` to pause number `to`; `distances` lie in between, 0 when it breaks the
/// rhythm.
struct ChainLink {
  std::size_t from;
  std::size_t to;
  int distances;
};

inline constexpr double kDistanceTolerance = 0.006;  ///< framing and small messages vary by less

/// How far `times` distances may be off, in bytes.
double slack(double distance, int times);

/// End of the stream that a chain has to include, whatever the pauses say.
enum class Anchor { None, Begin, End };

/// The chain with the most worth, in order. It neither begins nor ends with a break.
/// REQUIRES: pauses by position, both ends of the stream included.
std::vector<ChainLink> best_chain(std::span<const Pause> pauses, double distance,
                                  double Pause::*worth, Anchor anchor = Anchor::None);

}  // namespace tw::rhythm
