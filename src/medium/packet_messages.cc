// SPDX-License-Identifier: Apache-2.0
// Messages of a network of packets: sent, passed on while they come, and told of.

#include "trainwire/medium/packet_network.h"

#include <algorithm>
#include <utility>

namespace tw::medium {
namespace {

/// Where a message that is passed on would begin among those that nobody reads: it is read as it comes.
constexpr std::int64_t kPassedOn = -1;

}  // namespace

void PacketNetwork::send_bare(int number, Tag tag, Duration now) {
  bare_.push({.at = now + at(number).way, .number = made_++, .connection = number, .tag = tag});
  tell_left(tag, now);
}

/// Who sends is told when it has done so, not while it does.
void PacketNetwork::tell_left(Tag tag, Duration now) {
  if (is_sending_) {
    left_.emplace_back(now, tag);
  } else {
    told_.left(tag, now);
  }
}

/// A message is there, and so are those behind it that only waited for it.
void PacketNetwork::came(int number, Tag tag, Duration now) {
  Connection& connection = at(number);
  travelling_.erase(tag);
  if (!connection.coming.empty() && connection.coming.front().tag == tag) {
    const Coming whole = std::move(connection.coming.front());
    connection.coming.pop_front();
    pass_on(whole, 1, netsim::time_of(now));
  }
  const auto found = std::find_if(connection.expected.begin(), connection.expected.end(),
                                  [&](const Expected& one) { return one.tag == tag; });
  found->is_there = true;
  while (!connection.expected.empty() && connection.expected.front().is_there) {
    const Tag first = connection.expected.front().tag;
    connection.expected.pop_front();
    told_.came(first, now);
  }
}

/// Before a message is written.
void PacketNetwork::keep_unread(Connection& connection) {
  if (connection.sent++ >= connection.read) connection.unread.push_back(connection.written);
}

/// What the receiver's socket has room for, behind what is read, may come.
void PacketNetwork::bound(const Connection& connection, Duration now) {
  if (!connection.is_read_in_turn || connection.number < 0) return;
  const std::int64_t begin = connection.unread.empty() ? kPassedOn : connection.unread.front();
  net_.bound(connection.number, begin == kPassedOn ? netsim::kUnbounded : begin + connection.room,
             connection.room, netsim::time_of(now));
}

void PacketNetwork::reads(int number, Duration now) {
  Connection& connection = at(number);
  if (connection.read++ >= connection.sent) return;
  connection.unread.pop_front();
  if (is_advancing_) {
    to_bound_.push_back(number);
    return;
  }
  const Calling calling(is_sending_);
  bound(connection, now);
}

void PacketNetwork::send(int number, std::int64_t bytes, Tag tag, Duration now) {
  Connection& connection = at(number);
  connection.expected.push_back({.tag = tag});
  keep_unread(connection);
  if (bytes == 0 || connection.number < 0) {
    const Calling calling(is_sending_);
    return send_bare(number, tag, now);
  }
  travelling_[tag] = number;
  connection.written += bytes;
  const Calling calling(is_sending_);
  bound(connection, now);
  net_.send(connection.number, bytes, bytes, tag, netsim::time_of(now));
}

void PacketNetwork::send_on(int number, std::int64_t bytes, Tag tag, std::span<const Tag> behind,
                            Duration now) {
  Connection& connection = at(number);
  connection.expected.push_back({.tag = tag});
  if (connection.sent++ >= connection.read) connection.unread.push_back(kPassedOn);
  connection.passing = {.bytes = bytes};
  for (const Tag source : behind) {
    const auto found = travelling_.find(source);
    if (found == travelling_.end()) continue;  // all of it is there
    std::deque<Coming>& all = at(found->second).coming;
    const auto coming =
        std::find_if(all.begin(), all.end(), [&](const Coming& one) { return one.tag == source; });
    if (coming == all.end()) continue;
    coming->followers.emplace_back(number, connection.passing.shares.size());
    connection.passing.shares.push_back(static_cast<double>(coming->there) /
                                        static_cast<double>(coming->bytes));
  }
  if (bytes == 0 || connection.number < 0) {
    const Calling calling(is_sending_);
    if (connection.passing.shares.empty()) return send_bare(number, tag, now);
    connection.passing.bare = tag;
    return;
  }
  travelling_[tag] = number;
  if (told_.began) {
    net_.follow(connection.number);
    connection.coming.push_back({.tag = tag, .begin = connection.written, .bytes = bytes});
  }
  connection.written += bytes;
  connection.passing.allowed = allowed_of(connection.passing);
  const Calling calling(is_sending_);
  net_.send(connection.number, bytes, connection.passing.allowed, tag, netsim::time_of(now));
}

std::int64_t PacketNetwork::allowed_of(const Passing& passing) {
  double share = 1;
  for (const double one : passing.shares) share = std::min(share, one);
  return share >= 1 ? passing.bytes
                    : static_cast<std::int64_t>(share * static_cast<double>(passing.bytes));
}

/// More bytes of a connection are there: a message begins, and others pass on what is there of it.
void PacketNetwork::progressed(int net_connection, std::int64_t bytes, netsim::Time now) {
  Connection& connection = at(of_net_[static_cast<std::size_t>(net_connection)]);
  if (connection.coming.empty() || connection.coming.front().begin >= bytes) return;
  Coming& coming = connection.coming.front();
  coming.there = bytes - coming.begin;
  if (!std::exchange(coming.begun, true)) told_.began(coming.tag, netsim::duration_of(now));
  pass_on(coming, static_cast<double>(coming.there) / static_cast<double>(coming.bytes), now);
}

/// Who follows may bring others to follow.
void PacketNetwork::pass_on(const Coming& coming, double share, netsim::Time now) {
  for (std::size_t i = 0; i < coming.followers.size(); ++i) {
    allow(coming.followers[i].first, coming.followers[i].second, share, now);
  }
}

void PacketNetwork::allow(int number, std::size_t source, double share, netsim::Time now) {
  Connection& connection = at(number);
  connection.passing.shares[source] = share;
  if (connection.passing.bare) {
    const auto is_whole = [](double one) { return one >= 1; };
    const auto& shares = connection.passing.shares;
    if (!std::all_of(shares.begin(), shares.end(), is_whole)) return;
    return send_bare(number, *std::exchange(connection.passing.bare, {}), netsim::duration_of(now));
  }
  const std::int64_t allowed = allowed_of(connection.passing);
  const std::int64_t more = allowed - std::exchange(connection.passing.allowed, allowed);
  if (more > 0) net_.allow(connection.number, more, now);
}

std::optional<Duration> PacketNetwork::next() {
  const netsim::Time in_net = net_.next();
  std::optional<Duration> next;
  if (!left_.empty()) return left_.front().first;
  if (in_net != netsim::kNever) next = netsim::duration_of(in_net);
  if (!bare_.empty() && (!next || bare_.top().at < *next)) next = bare_.top().at;
  return next;
}

void PacketNetwork::advance(Duration now) {
  now_ = now;
  tell_those_that_left(now);
  is_advancing_ = true;
  net_.advance(netsim::time_of(now));
  is_advancing_ = false;
  for (const int number : std::exchange(to_bound_, {})) {
    const Calling calling(is_sending_);
    bound(at(number), now);
  }
  while (!bare_.empty() && bare_.top().at <= now) {
    // Nothing comes before it is told that it left.
    tell_those_that_left(now);
    const Arrival arrival = bare_.top();
    bare_.pop();
    came(arrival.connection, arrival.tag, now);
  }
}

void PacketNetwork::tell_those_that_left(Duration now) {
  while (!left_.empty()) {
    const Tag tag = left_.front().second;
    left_.pop_front();
    told_.left(tag, now);
  }
}

}  // namespace tw::medium
