// SPDX-License-Identifier: Apache-2.0
#include "trainwire/group/group.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <utility>

namespace tw::group {
namespace {

/// Whom a packet is of: those that it sums, or who answers.
Places places_of(const Packet& packet) {
  return {.begin = static_cast<int>(packet.sacks[1].begin),
          .end = static_cast<int>(packet.sacks[1].end)};
}

void set_places(Packet& packet, Places places) {
  packet.sacks[1] = {.begin = static_cast<std::uint32_t>(places.begin),
                     .end = static_cast<std::uint32_t>(places.end)};
}

}  // namespace

Group::Group(netsim::Net& net, Tree tree, const Options& options, SlotPool& pool, Told told)
    : net_(net),
      connection_(net.admit(*this, options.priority)),
      tree_(std::move(tree)),
      options_(options),
      told_(std::move(told)),
      at_hub_({.begin = 0, .end = tree_.members()}, nullptr, -1),
      progress_(static_cast<std::size_t>(tree_.members())) {
  const int members = tree_.members();
  for (int i = 0; i < (options.sums ? members : 1); ++i) {
    const int branch = options.sums ? tree_.host_branch(i) : tree_.root();
    senders_.emplace_back(
        options, options.sums ? 1 : members, [this, i, branch](const Packet& packet, Time now) {
          return emit(branch, !options_.sums, packet, {.begin = i, .end = i + 1}, now);
        });
  }
  for (int i = 0; i < (options.sums ? 1 : members); ++i) {
    const int branch = options.sums ? tree_.root() : tree_.host_branch(i);
    receivers_.emplace_back([this, i, branch](const Packet& packet, Time now) {
      emit(branch, options_.sums, packet, {.begin = i, .end = i + 1}, now);
    });
  }
  for (const Branch& branch : tree_.branches()) {
    summing_.emplace_back(branch.below, &pool, branch.node);
  }
  entries_.assign(senders_.size(), kNever);
}

Time Group::emit(int branch, bool down, Packet packet, Places places, Time now) {
  packet.connection = connection_;
  if (packet.is_ack) packet.frame_bytes = static_cast<std::uint16_t>(options_.header_bytes);
  set_places(packet, places);
  const Branch& first = tree_.at(branch);
  return net_.enter(down ? first.down : first.up, -1, packet, now);
}

void Group::send(int member, std::int64_t bytes, std::uint64_t tag, Time now) {
  const std::int64_t number = progress_[static_cast<std::size_t>(member)].said++;
  if (number == messages_.end()) {
    const std::int64_t packets = (bytes + options_.payload_bytes - 1) / options_.payload_bytes;
    const std::int64_t before =
        messages_.empty() ? senders_.front().written() : messages_[number - 1].end;
    messages_.push({.bytes = bytes,
                    .end = before + packets,
                    .tags = std::vector<std::uint64_t>(progress_.size())});
  }
  Message& message = messages_[number];
  check(message.bytes == bytes, "messages that belong together have equal bytes");
  message.tags[static_cast<std::size_t>(member)] = tag;
  ++message.said;
  if (options_.sums) {
    const int place = tree_.place_of(member);
    senders_[static_cast<std::size_t>(place)].write(bytes, now);
    settle(place, now);
  } else if (message.said == tree_.members()) {
    senders_.front().write(bytes, now);
    settle_hub(now);
  }
}

void Group::arrive(int port, const Packet& packet, Time now) {
  const int number = tree_.of_port(port);
  const Branch& branch = tree_.at(number);
  if (port == branch.down) {
    down(number, port, packet, now);
  } else if (branch.parent < 0) {
    at_hub(packet, now);
    settle_hub(now);
  } else {
    up(branch.parent, port, packet, now);
  }
}

/// A packet is at the switch below the branch.
void Group::up(int number, int from, Packet packet, Time now) {
  const Branch& branch = tree_.at(number);
  if (options_.sums && branch.sums) {
    Summing& summing = summing_[static_cast<std::size_t>(number)];
    const Summed summed = summing.add(packet.segment, places_of(packet), packet.asks_ack);
    if (summed == Summed::Kept) return;
    if (summed == Summed::Complete) {
      packet.asks_ack = summing.asks(packet.segment);
      set_places(packet, branch.below);
    }
  }
  net_.enter(branch.up, from, packet, now);
}

/// A packet is at the switch or host below the branch.
void Group::down(int number, int from, const Packet& packet, Time now) {
  const Branch& branch = tree_.at(number);
  if (packet.is_ack) {
    Summing& summing = summing_[static_cast<std::size_t>(number)];
    summing.free_before(packet.segment);
    for (std::uint32_t i = packet.sacks[0].begin; i < packet.sacks[0].end; ++i) {
      summing.free_one(packet.segment + i);
    }
  }
  for (const int child : branch.children) net_.enter(tree_.at(child).down, from, packet, now);
  for (const int place : branch.members) at_member(place, packet, now);
}

void Group::at_hub(const Packet& packet, Time now) {
  if (packet.is_ack) return senders_.front().heard(places_of(packet).begin, packet, now);
  Receiver& receiver = receivers_.front();
  const std::int64_t number = packet.segment;
  if (receiver.has(number)) return receiver.arrived(number, true, fan_, now);
  if (at_hub_.add(number, places_of(packet), packet.asks_ack) != Summed::Complete) return;
  fan_ = at_hub_.packets(number);
  const bool asks = at_hub_.asks(number);
  at_hub_.free_one(number);
  receiver.arrived(number, asks, fan_, now);
}

void Group::at_member(int place, const Packet& packet, Time now) {
  const auto at = static_cast<std::size_t>(place);
  if (packet.is_ack) {
    senders_[at].heard(0, packet, now);
  } else {
    receivers_[at].arrived(packet.segment, packet.asks_ack, packet.train, now);
  }
  settle(place, now);
}

void Group::wake(int sender, Time at) {
  const auto i = static_cast<std::size_t>(sender);
  if (at != entries_[i]) return;
  entries_[i] = kNever;
  if (senders_[i].due() <= at) senders_[i].woken(at);
  if (options_.sums) {
    settle(sender, at);
  } else {
    settle_hub(at);
  }
  expect(sender);
}

/// Sees to the timer of a sender.
void Group::expect(int sender) {
  const auto at = static_cast<std::size_t>(sender);
  if (senders_[at].due() >= entries_[at]) return;
  entries_[at] = senders_[at].due();
  net_.call(connection_, sender, entries_[at]);
}

/// After something has happened at a member. Who is told of messages may send.
void Group::settle(int place, Time now) {
  const auto at = static_cast<std::size_t>(place);
  tell(place, now);
  if (options_.sums && senders_[at].due() < entries_[at]) expect(place);
}

/// After something has happened at the hub.
void Group::settle_hub(Time now) {
  const std::int64_t first = options_.sums ? messages_.begin() : progress_.front().left;
  const std::int64_t until = options_.sums ? receivers_.front().next() : senders_.front().sent();
  if (first < messages_.end() && messages_[first].end <= until) {
    for (int place = 0; place < tree_.members(); ++place) tell(place, now);
  }
  if (!options_.sums) expect(0);
}

void Group::tell(int place, Time now) {
  const auto at = static_cast<std::size_t>(place);
  const auto member = static_cast<std::size_t>(tree_.member_at(place));
  const Sender& sender = senders_[options_.sums ? at : 0];
  const Receiver& receiver = receivers_[options_.sums ? 0 : at];
  Progress& told = progress_[member];
  while (told.left < told.said && messages_[told.left].end <= sender.sent()) {
    told_.left(messages_[told.left++].tags[member], now);
  }
  bool any = false;
  while (told.came < told.left && messages_[told.came].end <= receiver.next()) {
    any = true;
    told_.came(messages_[told.came++].tags[member], now);
  }
  if (any) forget_told();
}

void Group::forget_told() {
  const auto is_told = [this](const Progress& told) { return told.came > messages_.begin(); };
  while (!messages_.empty() && std::all_of(progress_.begin(), progress_.end(), is_told))
    messages_.pop();
}

std::int64_t Group::passed() const {
  std::int64_t sum = 0;
  for (const Summing& each : summing_) sum += each.passed();
  return sum;
}

std::int64_t Group::resent() const {
  std::int64_t sum = 0;
  for (const Sender& each : senders_) sum += each.counts().resent;
  return sum;
}

}  // namespace tw::group
