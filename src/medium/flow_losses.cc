// SPDX-License-Identifier: Apache-2.0
// What streams of a network of fluids lose, and what that holds up.

#include "trainwire/medium/flow_network.h"

#include <algorithm>
#include <utility>

namespace tw::medium {

/// The first one that is not filled yet; holes are in order.
const FlowHole* FlowNetwork::next_hole(const FlowMessage& message, Duration now) {
  const auto found = std::find_if(message.holes.begin(), message.holes.end(),
                                  [&](const FlowHole& hole) { return hole.filled > now; });
  return found == message.holes.end() ? nullptr : &*found;
}

/// Until the hole in what it passes on is filled.
void FlowNetwork::pause(int number, Duration until) {
  FlowConnection& connection = at(number);
  stop_flowing(connection);
  connection.pauses = true;
  if (until != Duration::max()) expect_at(number, until);
}

void FlowNetwork::lose(int number, const fluid::TcpStream::Lost& lost, Duration now) {
  FlowConnection& connection = at(number);
  FlowMessage& message = connection.messages.front();
  const Duration there = now + from_seconds(lost.again_after_s) + connection.path.travelling;
  message.repaired = std::max(message.repaired, there);
  message.lost_tail = lost.is_tail;
  if (!message.is_passed_on) return;
  holes_[message.tag].push_back({.at = message.bytes - connection.left, .filled = there});
  tell_holes(message.tag, now);
}

/// To those that pass the message on already.
void FlowNetwork::tell_holes(Tag tag, Duration now) {
  const std::vector<FlowHole>& holes = holes_[tag];
  const auto [first, last] = followers_.equal_range(tag);
  for (auto it = first; it != last; ++it) {
    FlowConnection& connection = at(it->second.connection);
    for (FlowMessage& message : connection.messages) {
      if (message.tag == it->second.tag) message.holes = holes;
    }
    if (connection.messages.front().tag != it->second.tag) continue;
    if (connection.pauses) {
      const FlowHole* hole = next_hole(connection.messages.front(), now);
      expect_at(it->second.connection, hole == nullptr ? now : hole->filled);
    } else if (connection.share >= 0) {
      look_again(it->second.connection, now);
    }
  }
}

/// What follows lets the receiver tell of the tail that it misses.
void FlowNetwork::notice_tail(int number, Duration now) {
  FlowConnection& connection = at(number);
  const FlowTail tail = *std::exchange(connection.tail, std::nullopt);
  const Duration there = std::max(
      tail.before, now + from_seconds(connection.stream->noticed_s()) + connection.path.travelling);
  if (there >= connection.arrived) return;
  connection.arrived = there;
  overtaken_.insert(tail.arrival);
  arrivals_.push({.at = there, .number = made_++, .tag = tail.tag, .connection = number});
  const auto hole = holes_.find(tail.tag);
  if (hole == holes_.end()) return;
  for (FlowHole& each : hole->second) each.filled = std::min(each.filled, there);
  tell_holes(tail.tag, now);
}

}  // namespace tw::medium
