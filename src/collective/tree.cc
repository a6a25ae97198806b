// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/tree.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/strategies.h"

#include <algorithm>
#include <memory>
#include <string>

namespace tw::collective {
namespace {

/// Both strands of the edge between `child`, which lies at `depth` >= 1, and its parent.
void append_edge(Program& program, int child, int parent, int depth, const Pipeline& pipeline) {
  const Strand up{.round = pipeline.height - depth,
                  .from = child,
                  .to = parent,
                  .chunk = pipeline.first_chunk,
                  .combine = Combine::Sum,
                  .count = pipeline.pieces,
                  .round_stride = 1,
                  .chunk_stride = pipeline.chunk_stride};
  program.push_back(up);
  Strand down = up;
  down.round = pipeline.height + depth - 1;
  down.from = parent;
  down.to = child;
  down.combine = Combine::Replace;
  program.push_back(down);
}

struct RootedTree {
  std::vector<TreeNode> nodes;
  int height;
};

/// REQUIRES: rank 0 is the root, and the parent of each other rank is a lower one.
RootedTree rooted(const std::vector<int>& parents) {
  RootedTree tree{.nodes = std::vector<TreeNode>(parents.size()), .height = 0};
  for (std::size_t rank = 1; rank < parents.size(); ++rank) {
    check(parents[rank] < static_cast<int>(rank), "a parent comes before its children");
    TreeNode& parent = tree.nodes[static_cast<std::size_t>(parents[rank])];
    parent.children.push_back(static_cast<int>(rank));
    tree.nodes[rank].parent = parents[rank];
    tree.nodes[rank].depth = parent.depth + 1;
    tree.height = std::max(tree.height, tree.nodes[rank].depth);
  }
  return tree;
}

/// `parents`: rank 0 is the root, and the parent of each other rank is a lower one.
Schedule reduce_and_broadcast(std::string name, const std::vector<int>& parents, int pieces) {
  // Shared, because copies of a schedule need not copy what their programs only read.
  const auto tree = std::make_shared<const RootedTree>(rooted(parents));
  const int ranks = static_cast<int>(parents.size());
  return {.strategy = std::move(name),
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = pieces,
          .rounds = tree_rounds(tree->height, pieces),
          .depth = 2 * std::int64_t{tree->height},
          .program = [tree, pieces](int rank) {
            Program program;
            append_tree(program, rank, tree->nodes[static_cast<std::size_t>(rank)],
                        {.height = tree->height, .pieces = pieces});
            return program;
          }};
}

/// Each rank's master as its parent; the masters' own parents are still to be set.
std::vector<int> masters_as_parents(const Layout& layout) {
  std::vector<int> master_of_host(static_cast<std::size_t>(layout.hosts), 0);
  for (const int master : masters(layout)) {
    master_of_host[static_cast<std::size_t>(layout.host(master))] = master;
  }
  std::vector<int> parents;
  for (const int host : layout.host_of) {
    parents.push_back(master_of_host[static_cast<std::size_t>(host)]);
  }
  return parents;
}

/// Local ranks under their master, and master number i (i >= 1) under master number parent_of(i).
std::vector<int> two_levels(const Layout& layout, std::size_t (*parent_of)(std::size_t)) {
  std::vector<int> parents = masters_as_parents(layout);
  const std::vector<int> heads = masters(layout);
  for (std::size_t i = 1; i < heads.size(); ++i) {
    parents[static_cast<std::size_t>(heads[i])] = heads[parent_of(i)];
  }
  return parents;
}

}  // namespace

void append_tree(Program& program, int rank, const TreeNode& node, const Pipeline& pipeline) {
  if (node.parent) append_edge(program, rank, *node.parent, node.depth, pipeline);
  for (const int child : node.children) {
    append_edge(program, child, rank, node.depth + 1, pipeline);
  }
}

std::int64_t tree_rounds(int height, int pieces) {
  return height == 0 ? 0 : 2 * std::int64_t{height} + pieces - 1;
}

Schedule tree(const Arrangement& arrangement) {
  const auto first_master = [](std::size_t) -> std::size_t { return 0; };
  return reduce_and_broadcast("tree", two_levels(arrangement.layout, first_master),
                              arrangement.pieces);
}

Schedule star(const Arrangement& arrangement) {
  return reduce_and_broadcast("star", std::vector<int>(arrangement.layout.host_of.size(), 0),
                              arrangement.pieces);
}

Schedule binary_tree_star(const Arrangement& arrangement) {
  const auto heap_parent = [](std::size_t i) { return (i - 1) / 2; };
  return reduce_and_broadcast("binary_tree_star", two_levels(arrangement.layout, heap_parent),
                              arrangement.pieces);
}

}  // namespace tw::collective
