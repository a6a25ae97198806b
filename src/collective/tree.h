// SPDX-License-Identifier: Apache-2.0
// Reduce up a rooted tree, then broadcast down it, in pipelined pieces: what every tree strategy
// is.
//
// With height D, piece k leaves depth d upwards in round (D-d)+k and reaches depth d again in round
// D+(d-1)+k. So a rank has its children's pieces one round before it passes theirs and its own on,
// all levels work at the same time on different pieces, and 2D + pieces - 1 rounds are enough.

#pragma once

#include "trainwire/collective/schedule.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tw::collective {

/// One rank's place in a rooted tree; only the root has no parent, and its depth is 0.
struct TreeNode {
  std::optional<int> parent = {};
  std::vector<int> children = {};
  int depth = 0;
};

/// Which chunks travel through a tree: first_chunk + k * chunk_stride for piece k.
struct Pipeline {
  int height;
  int pieces;
  int first_chunk = 0;
  int chunk_stride = 1;
};

/// Appends 2 strands for each neighbour of `rank`.
void append_tree(Program& program, int rank, const TreeNode& node, const Pipeline& pipeline);

/// 2D + pieces - 1, and 0 for a tree of one rank.
std::int64_t tree_rounds(int height, int pieces);

}  // namespace tw::collective
