// SPDX-License-Identifier: Apache-2.0
// Ports that join several hosts, the members, with one, the hub: what is summed goes up to the hub,
// what is multicast comes down from it, over the same links.
//
//   member 0 ──┐
//   member 1 ──┴ switch ──┐            a branch is a link of the tree; it has a port up and one
//   member 2 ──┐          ├ switch ── hub   down, and branches and members below it
//   member 3 ──┴ switch ──┘
//
// Members are put in the order in which the tree is walked, so that those below a branch are a
// range of *places*; a sum says by such a range whom it sums.
//
// Limits: paths to the hub must be a tree, as those that are picked by destination are.

#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace tw::group {

/// Places [begin, end) of members.
struct Places {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
  bool operator==(const Places&) const = default;
};

struct Branch {
  int up = 0;                      ///< port towards the hub
  int down = 0;                    ///< the other direction of that link
  int node = 0;                    ///< below it: a switch, or a member's host
  int parent = -1;                 ///< branch; -1: it ends at the hub
  std::vector<int> children = {};  ///< branches
  std::vector<int> members = {};   ///< places of those on its host
  Places below = {};
  /// Its switch gets several packets where one sum goes on.
  bool sums = false;
};

class Tree {
 public:
  /// A path's ports, and the nodes that they begin at.
  struct Path {
    std::vector<int> ports = {};
    std::vector<int> nodes = {};
  };

  /// Paths of all members to the hub; port p and p ^ 1 are the directions of one link.
  /// REQUIRES: there are members, no path is empty, together they are a tree.
  explicit Tree(const std::vector<Path>& up);

  const std::vector<Branch>& branches() const { return branches_; }
  const Branch& at(int branch) const { return branches_[static_cast<std::size_t>(branch)]; }
  /// The branch that ends at the hub.
  int root() const { return root_; }
  /// By its port up or down. REQUIRES: there is one.
  int of_port(int port) const { return of_link_.at(port / 2); }
  int members() const { return static_cast<int>(place_of_.size()); }
  int place_of(int member) const { return place_of_[static_cast<std::size_t>(member)]; }
  int member_at(int place) const { return member_at_[static_cast<std::size_t>(place)]; }
  /// The branch of a member's own host.
  int host_branch(int place) const { return host_branch_[static_cast<std::size_t>(place)]; }

 private:
  void walk(int branch, const std::vector<std::vector<int>>& members);

  std::vector<Branch> branches_;
  std::unordered_map<int, int> of_link_;
  std::vector<int> place_of_;
  std::vector<int> member_at_;
  std::vector<int> host_branch_;
  int root_ = -1;
};

}  // namespace tw::group
