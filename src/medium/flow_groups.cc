// SPDX-License-Identifier: Apache-2.0
// Groups of a network of fluids. A message of a group flows when all of its members have sent it,
// over all ports of its tree at one rate, which no more than its slots for each round trip bound. Of
// sums, groups that share a switch have its slots in proportion to what they want; nothing is passed on
// without a sum here.
//
// Loss: a packet is lost for a group when it is lost on any port of the tree (1 - (1 - p)^w), and is
// then sent again on all of them. What is lost within the last round trip takes another one, and the
// last packet a time-out; that is drawn for each message, and of multicasts for each member.

#include "trainwire/medium/flow_groups.h"

#include "trainwire/base/error.h"
#include "trainwire/medium/flow_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace tw::medium {
namespace {

constexpr Duration kLongestRepair = std::chrono::hours(1);

/// As group/sender.h has it.
Duration time_out(Duration round_trip) { return std::chrono::milliseconds(1) + 3 * round_trip; }

struct Tail {
  double loss = 0;
  double again = 0;    ///< of what is sent once more: who has contributed has done so
  double packets = 0;  ///< that were sent within the last round trip
  Duration round_trip = {};
};

/// Of a member's packets.
double largest_loss(const GroupPath& path) {
  return *std::max_element(path.loss.begin(), path.loss.end());
}

Duration repair_of(const Tail& tail, Random& chance) {
  if (tail.loss <= 0) return {};
  Duration late = {};
  if (chance.uniform() < tail.loss) {
    late = time_out(tail.round_trip);
  } else if (chance.uniform() < 1 - std::pow(1 - tail.loss, tail.packets)) {
    late = tail.round_trip;
  }
  while (late > Duration{} && late < kLongestRepair && chance.uniform() < tail.again) {
    late += time_out(tail.round_trip);
  }
  return late;
}

}  // namespace

int FlowNetwork::join(const GroupRequest& asked) {
  const auto number = static_cast<int>(groups_.size());
  groups_.push_back({.asked = asked,
                     .connection = static_cast<int>(connections_.size()),
                     .chance = Random(options_.seed, fmt::format("losses of group {}", number)),
                     .said = std::vector<std::int64_t>(asked.members.size())});
  switch_slots_ = std::max(switch_slots_, asked.switch_slots);
  FlowConnection& connection = connections_.emplace_back();
  connection.from = asked.sums ? asked.members.front() : asked.hub;
  connection.to = asked.sums ? asked.hub : asked.members.front();
  connection.manner = Manner::Rdma;
  connection.group = number;
  connection.priority = asked.priority;
  set_group_path(connection);
  return number;
}

/// As ports are now.
void FlowNetwork::set_group_path(FlowConnection& connection) {
  FlowGroup& group = groups_[static_cast<std::size_t>(connection.group)];
  const GroupFrames frames{
      .frame_bytes = paths_.frame_bytes(),
      .header_bytes = paths_.frame_bytes() - static_cast<int>(std::lround(segment_bytes()))};
  group.path = group_path(paths_.network(), group.asked, frames,
                          [this](int port) { return paths_.request(port); });
  connection.path = paths_.path({.from = connection.from, .to = connection.to});
  if (!options_.tcp) connection.path.weight = 1;
  connection.path.ports = group.path.ports;
  connection.worth = 1 + group.path.any_loss / std::max(0.01, 1 - largest_loss(group.path));
  connection.pace = group_pace(group, 1);
}

double FlowNetwork::segment_bytes() const {
  return paths_.share_of_payload() * paths_.frame_bytes();
}

/// What its part of the slots allows, in bytes of the line: a packet that is lost has its slot longer.
double FlowNetwork::group_pace(const FlowGroup& group, double part) const {
  return part * group.asked.slots * segment_bytes() / seconds(group.path.round_trip);
}

void FlowNetwork::send_in_group(int number, int member, std::int64_t bytes, Tag tag, Duration now) {
  check(now >= now_ && bytes > 0, "time does not go back, and messages have bytes");
  now_ = now;
  FlowGroup& group = groups_[static_cast<std::size_t>(number)];
  const auto at =
      static_cast<std::size_t>(group.said[static_cast<std::size_t>(member)]++ - group.first);
  if (at == group.messages.size()) {
    group.messages.push_back({.bytes = bytes, .tags = std::vector<Tag>(group.said.size())});
  }
  FlowGroup::Message& message = group.messages[at];
  check(message.bytes == bytes, "messages that belong together have equal bytes");
  message.tags[static_cast<std::size_t>(member)] = tag;
  if (++message.said < std::ssize(group.said)) return;
  FlowConnection& connection = this->at(group.connection);
  connection.messages.push_back({.bytes = connection.worth * static_cast<double>(bytes)});
  if (connection.messages.size() > 1) return;
  begin(group.connection, now);
  share_slots(now);
}

/// Switches' slots among groups that send.
void FlowNetwork::share_slots(Duration now) {
  std::unordered_map<int, int> wanted;
  for (const FlowGroup& group : groups_) {
    if (!group.asked.sums || at(group.connection).messages.empty()) continue;
    for (const int node : group.path.switches) wanted[node] += group.asked.slots;
  }
  for (const FlowGroup& group : groups_) {
    FlowConnection& connection = at(group.connection);
    if (!group.asked.sums || connection.messages.empty()) continue;
    double part = 1;
    for (const int node : group.path.switches) {
      part = std::min(part, static_cast<double>(switch_slots_) / wanted[node]);
    }
    const double pace = group_pace(group, part);
    if (pace == connection.pace) continue;
    connection.pace = pace;
    set_cap(connection, now);
  }
}

/// The message that flows has left; it is there for each member in its time.
void FlowNetwork::end_in_group(int number, Duration now) {
  FlowConnection& connection = at(number);
  FlowGroup& group = groups_[static_cast<std::size_t>(connection.group)];
  const FlowGroup::Message message = std::move(group.messages.front());
  group.messages.pop_front();
  ++group.first;
  connection.messages.pop_front();
  double line = connection.pace;
  for (const int port : group.path.ports) line = std::min(line, paths_.capacity(port));
  Tail tail{.loss = group.path.any_loss,
            .again = largest_loss(group.path),
            .packets = std::min(static_cast<double>(message.bytes),
                                line * seconds(group.path.round_trip)) /
                       segment_bytes(),
            .round_trip = group.path.round_trip};
  const GroupPath& path = group.path;
  Duration there = *std::max_element(path.travelling.begin(), path.travelling.end());
  if (group.asked.sums) there += repair_of(tail, group.chance);
  for (std::size_t i = 0; i < message.tags.size(); ++i) {
    if (!group.asked.sums) {
      tail.loss = tail.again = path.loss[i];
      there = path.travelling[i] + repair_of(tail, group.chance);
    }
    arrivals_.push({.at = now + there, .number = made_++, .tag = message.tags[i]});
  }
  if (!connection.messages.empty()) begin(number, now);
  share_slots(now);
  for (const Tag tag : message.tags) told_.left(tag, now);
}

}  // namespace tw::medium
