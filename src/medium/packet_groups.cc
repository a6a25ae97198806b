// SPDX-License-Identifier: Apache-2.0
// Groups of a network of packets: those of group/group.h, over the paths that groups take.

#include "trainwire/medium/group_paths.h"
#include "trainwire/medium/packet_network.h"

#include <memory>
#include <utility>

namespace tw::medium {

int PacketNetwork::join(const GroupRequest& asked) {
  const int frame = options_.segment_bytes + options_.header_bytes;
  const GroupPath path =
      group_path(network_, asked, {.frame_bytes = frame, .header_bytes = options_.header_bytes},
                 [this](int port) -> const network::Request& { return network_.request(port); });
  std::vector<group::Tree::Path> up;
  for (std::size_t i = 0; i < path.up.size(); ++i) {
    group::Tree::Path& made = up.emplace_back();
    made.ports = path.up[i];
    made.nodes = {asked.members[i]};
    for (std::size_t hop = 0; hop + 1 < made.ports.size(); ++hop) {
      made.nodes.push_back(network_.end_of(made.ports[hop]));
    }
    std::vector<int> back = made.ports;  // the other directions of the same links
    for (int& port : back) port ^= 1;
    net_.admit(made.ports, asked.priority);
    net_.admit(back, asked.priority);
  }
  if (asked.sums) slots_.enlarge(asked.switch_slots);
  const group::Options options{.sums = asked.sums,
                               .priority = asked.priority,
                               .payload_bytes = options_.segment_bytes,
                               .header_bytes = options_.header_bytes,
                               .slots = asked.slots,
                               .room = path.room,
                               .round_trip = path.round_trip};
  groups_.push_back(std::make_unique<group::Group>(
      net_, group::Tree(up), options, slots_,
      group::Group::Told{
          .left = [this](Tag tag, netsim::Time now) { tell_left(tag, netsim::duration_of(now)); },
          .came = [this](Tag tag,
                         netsim::Time now) { told_.came(tag, netsim::duration_of(now)); }}));
  return static_cast<int>(groups_.size()) - 1;
}

void PacketNetwork::send_in_group(int group, int member, std::int64_t bytes, Tag tag,
                                  Duration now) {
  const Calling calling(is_sending_);
  groups_[static_cast<std::size_t>(group)]->send(member, bytes, tag, netsim::time_of(now));
}

GroupFigures PacketNetwork::group_figures() const {
  GroupFigures figures;
  for (const auto& group : groups_) {
    figures.passed += group->passed();
    figures.resent += group->resent();
  }
  return figures;
}

}  // namespace tw::medium
