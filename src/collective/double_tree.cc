// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/collective/tree.h"

#include <bit>

namespace tw::collective {
namespace {

// The in-order tree over places 1..size: a place whose lowest set bit is 2^l stands l levels above
// the lowest, so odd places are leaves and even ones, which always have a left child, are not.
//
//             4
//         2       6
//       1   3   5   7
//
// Where `size` cuts the right side off, the highest subtree that still fits moves up.

int floor_log2(int value) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(value))) - 1;
}

int lowest_bit(int place) { return place & -place; }

std::optional<int> left_of(int place) {
  const int half = lowest_bit(place) / 2;
  return half > 0 ? std::optional(place - half) : std::nullopt;
}

std::optional<int> right_of(int place, int size) {
  for (int half = lowest_bit(place) / 2; half > 0; half /= 2) {
    if (place + half <= size) return place + half;
  }
  return {};
}

/// Found by descending from the root: O(log size).
TreeNode node_at(int place, int size) {
  TreeNode node;
  int at = 1 << floor_log2(size);
  while (at != place) {
    node.parent = at;
    ++node.depth;
    at = place < at ? *left_of(at) : *right_of(at, size);
  }
  if (const auto left = left_of(place)) node.children.push_back(*left);
  if (const auto right = right_of(place, size)) node.children.push_back(*right);
  return node;
}

/// Who stands where. Tree 0: rank r on place r+1, so even ranks are leaves. Tree 1 swaps the
/// parity: mirrored for an even number of ranks, moved on by one for an odd number (where the last
/// rank is a leaf in both). No rank has children in both trees.
int place_of(int rank, int tree_number, int ranks) {
  if (tree_number == 0) return rank + 1;
  return ranks % 2 == 0 ? ranks - rank : (rank + 1) % ranks + 1;
}

int rank_on(int place, int tree_number, int ranks) {
  if (tree_number == 0) return place - 1;
  return ranks % 2 == 0 ? ranks - place : (place + ranks - 2) % ranks;
}

TreeNode node_of(int rank, int tree_number, int ranks) {
  TreeNode node = node_at(place_of(rank, tree_number, ranks), ranks);
  if (node.parent) node.parent = rank_on(*node.parent, tree_number, ranks);
  for (int& child : node.children) child = rank_on(child, tree_number, ranks);
  return node;
}

}  // namespace

Schedule double_tree(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const int pieces = arrangement.pieces;
  const int height = floor_log2(ranks);
  return {
      .strategy = "double_tree",
      .goal = Goal::AllReduce,
      .ranks = ranks,
      .workers = ranks,
      .chunks = 2 * pieces,
      .rounds = tree_rounds(height, pieces),
      .depth = 2 * std::int64_t{height},
      .program = [ranks, pieces, height](int rank) {
        Program program;
        // Even chunks through tree 0 and odd ones through tree 1: halves differ by at most one
        // element, and the trees never touch the same copy.
        for (const int tree_number : {0, 1}) {
          append_tree(
              program, rank, node_of(rank, tree_number, ranks),
              {.height = height, .pieces = pieces, .first_chunk = tree_number, .chunk_stride = 2});
        }
        return program;
      }};
}

}  // namespace tw::collective
