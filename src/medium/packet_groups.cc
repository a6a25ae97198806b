// SPDX-License-Identifier: Apache-2.0
// Groups of a network of packets: netsim's (netsim/group.h), over the paths that groups take.

#include "trainwire/medium/group_paths.h"
#include "trainwire/medium/packet_network.h"

#include <utility>

namespace tw::medium {

int PacketNetwork::join(const GroupRequest& asked) {
  const int frame = options_.segment_bytes + options_.header_bytes;
  const GroupPath path =
      group_path(network_, asked, {.frame_bytes = frame, .header_bytes = options_.header_bytes},
                 [this](int port) -> const network::Request& { return network_.request(port); });
  std::vector<netsim::GroupTree::Path> up;
  for (std::size_t i = 0; i < path.up.size(); ++i) {
    netsim::GroupTree::Path& made = up.emplace_back();
    made.ports = path.up[i];
    made.nodes = {asked.members[i]};
    for (std::size_t hop = 0; hop + 1 < made.ports.size(); ++hop) {
      made.nodes.push_back(network_.end_of(made.ports[hop]));
    }
  }
  ++groups_;
  return net_.join(netsim::GroupTree(up),
                   {.sums = asked.sums,
                    .payload_bytes = options_.segment_bytes,
                    .header_bytes = options_.header_bytes,
                    .slots = asked.slots,
                    .room = path.room,
                    .round_trip = path.round_trip},
                   asked.sums ? asked.switch_slots : 0);
}

void PacketNetwork::send_in_group(int group, int member, std::int64_t bytes, Tag tag,
                                  Duration now) {
  const Calling calling(is_sending_);
  net_.send_in_group(group, member, bytes, tag, netsim::time_of(now));
}

GroupFigures PacketNetwork::group_figures() const {
  GroupFigures figures;
  for (int group = 0; group < groups_; ++group) {
    figures.passed += net_.group(group).passed();
    figures.resent += net_.group(group).resent();
  }
  return figures;
}

}  // namespace tw::medium
