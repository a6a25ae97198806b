// SPDX-License-Identifier: Apache-2.0
#include "trainwire/group/tree.h"

#include "trainwire/base/error.h"

#include <algorithm>

namespace tw::group {

Tree::Tree(const std::vector<Path>& up) {
  check(!up.empty(), "a group has members");
  std::vector<std::vector<int>> members;  // by branch, of its host
  for (std::size_t member = 0; member < up.size(); ++member) {
    const Path& path = up[member];
    check(!path.ports.empty() && path.ports.size() == path.nodes.size(), "members are elsewhere");
    int above = -1;
    for (std::size_t i = path.ports.size(); i-- > 0;) {
      const int port = path.ports[i];
      const auto [found, is_new] = of_link_.emplace(port / 2, static_cast<int>(branches_.size()));
      if (is_new) {
        branches_.push_back({.up = port, .down = port ^ 1, .node = path.nodes[i], .parent = above});
        members.emplace_back();
        if (above >= 0)
          branches_[static_cast<std::size_t>(above)].children.push_back(found->second);
      }
      check(at(found->second).up == port && at(found->second).parent == above,
            "paths to one host are a tree");
      above = found->second;
    }
    members[static_cast<std::size_t>(above)].push_back(static_cast<int>(member));
  }
  root_ = of_link_.at(up.front().ports.back() / 2);
  place_of_.resize(up.size());
  walk(root_, members);
}

/// Gives members places, and branches theirs.
void Tree::walk(int number, const std::vector<std::vector<int>>& members) {
  Branch& branch = branches_[static_cast<std::size_t>(number)];
  branch.below.begin = static_cast<int>(member_at_.size());
  for (const int member : members[static_cast<std::size_t>(number)]) {
    const int place = static_cast<int>(member_at_.size());
    place_of_[static_cast<std::size_t>(member)] = place;
    member_at_.push_back(member);
    host_branch_.push_back(number);
    branch.members.push_back(place);
  }
  for (const int child : branch.children) walk(child, members);
  branch.below.end = static_cast<int>(member_at_.size());
  // What one switch alone brings is summed already, what one host brings is not.
  const bool is_host = branch.children.empty();
  const bool one_switch = branch.children.size() == 1 && at(branch.children[0]).members.empty();
  branch.sums = !is_host && branch.below.size() > 1 && !one_switch;
}

}  // namespace tw::group
