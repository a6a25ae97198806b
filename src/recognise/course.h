// SPDX-License-Identifier: Apache-2.0
// The courses that a step of sharded training may take: its collectives in order, in parts of what an
// edge of the ring carries in the step. sharded.h tells what they are, and chooses among them.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tw::recognise {

inline constexpr double kSamePlace = 0.001;  ///< of a step: places of one pause in several steps
inline constexpr double kSameSize = 0.02;    ///< how far collectives of one layer may differ

bool is_same_size(double a, double b);

struct SizeKind {
  double size;
  std::size_t count;
};

/// Sizes and how often each occurs, the most frequent first.
std::vector<SizeKind> kinds_of(std::span<const double> sizes);

struct Course {
  std::vector<double> sizes;
  /// Numbers of collectives after which somebody has to compute first: at the turn, and before
  /// gradients are scattered. Empty: after any of them.
  std::vector<std::size_t> waits;
  double model;       ///< all layers once: what is scattered
  double prior;       ///< less what it takes to write it down; in nats
  bool skips = true;  ///< one collective may always follow another without a pause

  /// Where its collectives end, rising, but for the last.
  std::vector<double> ends() const;
  /// Of these, where somebody computes.
  std::vector<double> waiting_ends() const;
};

/// So many equal parts, as rounds and pieces are.
Course equal_parts(std::size_t count);

/// As many buckets of one size as there is room for, and fewer, behind a first one of another; what
/// is left comes last.
std::vector<Course> equal_buckets(double first, double size);

/// So many equal rounds, each in pieces of one size and what is left. REQUIRES: the size is above 0.
Course rounds_in_pieces(std::size_t rounds, double piece);

/// Pieces of one size, as far as there is room, one of which ends at this place. REQUIRES: both are above 0.
Course pieces_through(double place, double piece);

/// What a step of a ring of `hosts` is that pauses between such sizes, in order, in any unit; some
/// collectives may follow one another without a pause. Nothing unless there are several sizes.
std::vector<Course> courses_by_sizes(const std::vector<double>& sizes, int hosts);

/// Layers of this size, as many as may be, and a head of another.
std::vector<Course> courses_of_layers(double layer);

}  // namespace tw::recognise
