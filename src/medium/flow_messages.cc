// SPDX-License-Identifier: Apache-2.0
// Messages of a network of fluids, from their first bytes to the last.

#include "trainwire/base/error.h"
#include "trainwire/medium/flow_network.h"
#include "trainwire/medium/socket_window.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::medium {
namespace {

/// A message shorter than so many frames is there before anybody could pass on its first bytes.
constexpr int kPassedOnFrames = 2;
/// Of uneven streams' shares: the standard deviation of their logarithms.
constexpr double kUnevenness = 0.5;

}  // namespace

void FlowNetwork::send(int number, std::int64_t bytes, Tag tag, Duration now) {
  check(now >= now_, "time does not go back");
  now_ = now;
  FlowConnection& connection = at(number);
  FlowMessage message{.bytes = connection.worth * static_cast<double>(bytes), .tag = tag};
  keep_unread(connection, message);
  connection.messages.push_back(std::move(message));
  queued(number, now);
}

/// What nobody reads yet has a hole where the receiver's socket is full, until somebody does.
void FlowNetwork::keep_unread(FlowConnection& connection, FlowMessage& message) {
  const bool is_read = connection.sent++ < connection.read;
  if (is_read || !connection.is_read_in_turn || !connection.stream) return;
  const fluid::TcpPath& tcp = connection.path.tcp;
  const double room = std::min(unread_bytes(tcp.line, tcp.rtt_s), tcp.largest_window);
  if (message.bytes > room) message.holes.push_back({.at = room, .filled = Duration::max()});
}

void FlowNetwork::reads(int number, Duration now) {
  now_ = now;
  FlowConnection& connection = at(number);
  const std::int64_t gone = connection.sent - std::ssize(connection.messages);
  const std::int64_t place = connection.read++ - gone;
  if (place < 0 || place >= std::ssize(connection.messages)) return;
  FlowMessage& message = connection.messages[static_cast<std::size_t>(place)];
  const auto kept = std::erase_if(
      message.holes, [](const FlowHole& hole) { return hole.filled == Duration::max(); });
  if (kept == 0 || place > 0) return;
  if (connection.pauses) {
    expect_at(number, now);
  } else if (connection.share >= 0) {
    look_again(number, now);
  }
}

void FlowNetwork::send_on(int number, std::int64_t bytes, Tag tag, std::span<const Tag> behind,
                          Duration now) {
  check(now >= now_, "time does not go back");
  now_ = now;
  FlowConnection& connection = at(number);
  ++connection.sent;
  FlowMessage message{.bytes = connection.worth * static_cast<double>(bytes),
                      .tag = tag,
                      .is_passed_on = bytes > kPassedOnFrames * paths_.frame_bytes(),
                      .behind = static_cast<int>(behind.size())};
  for (const Tag earlier : behind) {
    followers_.emplace(earlier, FlowFollower{.connection = number, .tag = tag});
    if (const auto found = holes_.find(earlier); found != holes_.end()) {
      message.holes = found->second;
    }
  }
  connection.messages.push_back(message);
  queued(number, now);
}

/// The last message has come to those that wait.
void FlowNetwork::queued(int number, Duration now) {
  FlowConnection& connection = at(number);
  if (connection.messages.size() == 1) {
    begin(number, now);
  } else if (connection.stream && connection.share >= 0) {
    look_again(number, now);
  }
}

/// Bytes that have to leave before the kernel takes the next message, at the present rate; nothing:
/// there is none, or it is not there as a whole.
std::optional<double> FlowNetwork::until_taken(const FlowConnection& connection) const {
  if (!connection.stream || connection.taken >= connection.messages.size()) return {};
  if (connection.messages[connection.taken].behind > 0) return {};
  double bytes = connection.left - connection.stream->takes(connection.rate);
  for (std::size_t i = 1; i <= connection.taken; ++i) bytes += connection.messages[i].bytes;
  return bytes - kGone;
}

/// Those messages that the kernel takes now.
std::vector<Tag> FlowNetwork::take(FlowConnection& connection) {
  std::vector<Tag> tags;
  while (until_taken(connection).value_or(1) <= 0) {
    tags.push_back(connection.messages[connection.taken++].tag);
  }
  return tags;
}

/// The first message that waits starts to flow.
void FlowNetwork::begin(int number, Duration now) {
  FlowConnection& connection = at(number);
  const FlowMessage& message = connection.messages.front();
  connection.left = message.bytes;
  connection.since = now;
  connection.waits = false;
  if (connection.left <= 0 || connection.path.ports.empty()) {
    connection.left = 0;
    expect_at(number, now);
    return;
  }
  if (connection.stream) {
    connection.stream->answers_wait(answers_wait_s(connection));
    connection.stream->begin(seconds(now));
  }
  connection.luck = connection.uneven ? std::exp(kUnevenness * luck_.normal()) : 1;
  if (connection.tail) notice_tail(number, now);
  flow(number, now);
  if (!message.is_passed_on || !told_.began) return;
  arrivals_.push({.at = now + connection.path.first + connection.path.travelling,
                  .number = made_++,
                  .tag = message.tag,
                  .begins = true});
}

void FlowNetwork::happen(int number, Duration now) {
  FlowConnection& connection = at(number);
  if (std::exchange(connection.pauses, false)) {
    ++connection.version;
    flow(number, now);
    return;
  }
  settle(connection, now);
  if (connection.left <= kGone) {
    end_message(number, now);
    return;
  }
  const FlowMessage& message = connection.messages.front();
  const FlowHole* hole = next_hole(message, now);
  if (hole != nullptr && message.bytes - connection.left >= hole->at - kGone) {
    pause(number, hole->filled);
    for (const Tag tag : take(connection)) told_.left(tag, now);
    return;
  }
  if (connection.stream) {  // otherwise its weight has changed
    connection.stream->answers_wait(answers_wait_s(connection));
    if (const auto lost = connection.stream->change(seconds(now), connection.left)) {
      lose(number, *lost, now);
    }
  }
  set_cap(connection, now);
  const std::vector<Tag> taken = take(connection);
  expect(number, now);
  for (const Tag tag : taken) told_.left(tag, now);
}

/// The message that flows has left; the next one flows.
void FlowNetwork::end_message(int number, Duration now) {
  FlowConnection& connection = at(number);
  const FlowMessage message = connection.messages.front();
  carry(connection, connection.left);
  connection.left = 0;
  stop_flowing(connection);
  connection.waits = message.behind > 0;
  if (connection.waits) return;
  if (connection.group >= 0) return end_in_group(number, now);
  const Duration before = connection.arrived;
  connection.arrived =
      std::max({now + connection.path.travelling, message.repaired, connection.arrived});
  const FlowArrival arrival{
      .at = connection.arrived, .number = made_++, .tag = message.tag, .connection = number};
  if (message.lost_tail && message.repaired == connection.arrived) {
    connection.tail = {.tag = message.tag, .arrival = arrival.number, .before = before};
  }
  arrivals_.push(arrival);
  connection.messages.pop_front();
  const bool was_taken = connection.taken > 0;
  if (was_taken) --connection.taken;
  if (!connection.messages.empty()) begin(number, now);
  if (!was_taken) told_.left(message.tag, now);
}

void FlowNetwork::arrive(const FlowArrival& arrival, Duration now) {
  if (arrival.begins) {
    told_.began(arrival.tag, now);
    return;
  }
  if (overtaken_.erase(arrival.number) > 0) return;  // it has come sooner
  std::optional<FlowTail>& tail = at(arrival.connection).tail;
  if (tail && tail->tag == arrival.tag) tail.reset();
  holes_.erase(arrival.tag);
  const auto [first, last] = followers_.equal_range(arrival.tag);
  std::vector<FlowFollower> followers;
  for (auto it = first; it != last; ++it) followers.push_back(it->second);
  followers_.erase(first, last);
  for (const FlowFollower& follower : followers) {
    FlowConnection& connection = at(follower.connection);
    for (FlowMessage& message : connection.messages) {
      if (message.tag == follower.tag) --message.behind;
    }
    if (connection.waits && connection.messages.front().behind == 0) {
      end_message(follower.connection, now);
    } else if (connection.stream && connection.share >= 0) {  // the kernel may take it now
      look_again(follower.connection, now);
    }
  }
  told_.came(arrival.tag, now);
}

}  // namespace tw::medium
