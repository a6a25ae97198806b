// SPDX-License-Identifier: Apache-2.0
#include "trainwire/multicast/receiving.h"

#include "trainwire/multicast/address.h"
#include "trainwire/multicast/socket.h"
#include "trainwire/transport/tcp/socket.h"

#include <algorithm>
#include <utility>

namespace tw::multicast {
namespace {

/// Datagrams that are taken before what has come is passed on.
constexpr int kHeard = 64;
/// Packets beyond the first missing one that no hub has on their way.
constexpr std::int64_t kFarthest = 1 << 20;
constexpr std::size_t kLargest = 65536;
/// Answers that may wait in the host.
constexpr int kAnswers = 64;

}  // namespace

Receiving::Receiving(const Options& options, Seat seat)
    : tag_(tag_of(options, seat.group)),
      place_(seat.place),
      stream_(std::move(seat.stream)),
      socket_(
          open_member(options.address, group_endpoint(options.address, options.job, seat.group))),
      back_(open_hub(options.address, kAnswers)),
      datagram_(kLargest),
      receiver_([this](const group::Packet& packet, auto) { answer(packet); }) {}

void Receiving::attend(group::Time now) {
  hear(now);
  pass_on();
}

void Receiving::hear(group::Time now) {
  for (int i = 0; i < kHeard; ++i) {
    const std::size_t size = receive_from(socket_, datagram_, hub_);
    if (size == 0) return;
    const std::span<const std::byte> bytes = std::span(datagram_).first(size);
    const auto data = decode_data(bytes, tag_);
    if (!data || data->number > receiver_.next() + kFarthest) continue;
    if (!receiver_.has(data->number)) keep(data->number, bytes.subspan(kHeaderBytes));
    receiver_.arrived(data->number, data->asks, data->sending, now);
  }
}

void Receiving::keep(std::int64_t number, std::span<const std::byte> payload) {
  if (number != next_) {
    early_.emplace(number, std::vector<std::byte>(payload.begin(), payload.end()));
    return;
  }
  ready_.insert(ready_.end(), payload.begin(), payload.end());
  ++next_;
  for (auto first = early_.begin(); first != early_.end() && first->first == next_; ++next_) {
    ready_.insert(ready_.end(), first->second.begin(), first->second.end());
    first = early_.erase(first);
  }
}

/// To whoever sent what is answered.
void Receiving::answer(const group::Packet& packet) {
  const auto bytes = encode(Answer{.member = place_,
                                   .next = packet.segment,
                                   .sending = packet.train,
                                   .first = packet.sacks[0].begin,
                                   .end = packet.sacks[0].end},
                            tag_);
  // One that finds no room is lost, as answers may be.
  if (send_to(back_, hub_, bytes) != Sent::Yes) return;
  count_.datagram_bytes += static_cast<std::int64_t>(bytes.size());
}

void Receiving::pass_on() {
  while (passed_ < ready_.size()) {
    const auto moved = transport::tcp::send_some(stream_.get(), std::span(ready_).subspan(passed_));
    // Who has closed it wants no more.
    if (moved.error != 0) passed_ = ready_.size();
    passed_ += moved.bytes;
    if (moved.blocked) return;
  }
  ready_.clear();
  passed_ = 0;
}

void Receiving::wait_for(std::vector<pollfd>& waits) const {
  waits.push_back({.fd = socket_.get(), .events = POLLIN, .revents = 0});
  if (!ready_.empty()) waits.push_back({.fd = stream_.get(), .events = POLLOUT, .revents = 0});
}

}  // namespace tw::multicast
