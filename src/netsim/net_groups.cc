// SPDX-License-Identifier: Apache-2.0
// Groups of a network: their packets go from port to port as their trees say.
#include "trainwire/netsim/net.h"

#include <memory>
#include <utility>

namespace tw::netsim {

int Net::join(GroupTree tree, const GroupOptions& options, int switch_slots) {
  const int number = static_cast<int>(groups_.size());
  slots_.enlarge(switch_slots);
  Group::Calls calls{.enter = [this](int port, int from, const Packet& packet,
                                     Time now) { return enter(port, from, packet, now); },
                     .left = [this](std::uint64_t tag, Time now) { told_.left(tag, now); },
                     .came = [this](std::uint64_t tag, Time now) { told_.came(tag, now); },
                     .expect =
                         [this, number](int sender, Time at) {
                           agenda_.add(
                               at, GroupDue | static_cast<std::uint32_t>(sender) * (kWhatBits + 1),
                               number);
                         }};
  groups_.push_back(
      std::make_unique<Group>(~number, std::move(tree), options, slots_, std::move(calls)));
  return number;
}

void Net::send_in_group(int group, int member, std::int64_t bytes, std::uint64_t tag, Time now) {
  groups_[static_cast<std::size_t>(group)]->send(member, bytes, tag, now);
}

void Net::arrive_in_group(const Packet& packet, int port, Time now) {
  groups_[static_cast<std::size_t>(~packet.connection)]->arrive(port, packet, now);
}

void Net::wake_group(const Agenda::Entry& entry) {
  groups_[static_cast<std::size_t>(entry.whose)]->wake(
      static_cast<int>(entry.what / (kWhatBits + 1)), entry.at);
}

}  // namespace tw::netsim
