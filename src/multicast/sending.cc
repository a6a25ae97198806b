// SPDX-License-Identifier: Apache-2.0
#include "trainwire/multicast/sending.h"

#include "trainwire/base/error.h"
#include "trainwire/multicast/address.h"
#include "trainwire/multicast/socket.h"
#include "trainwire/transport/tcp/socket.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tw::multicast {
namespace {

/// Packets that are taken from the stream at a time.
constexpr int kTaken = 64;
/// Answers that are heard before anything else is done.
constexpr int kHeard = 256;

group::Options sender_options(const Options& options) {
  return {.payload_bytes = options.payload_bytes,
          .header_bytes = static_cast<int>(kHeaderBytes),
          .slots = options.window,
          .room = options.window,
          .round_trip = options.round_trip};
}

}  // namespace

Sending::Sending(const Options& options, Seat seat, int wake)
    : options_(options),
      tag_(tag_of(options, seat.group)),
      members_(seat.members),
      wake_(wake),
      stream_(std::move(seat.stream)),
      socket_(open_hub(options.address, options.ahead)),
      group_(socket_address(group_endpoint(options.address, options.job, seat.group))),
      sender_(sender_options(options), seat.members, [this](const group::Packet& packet, auto) {
        emit(packet);
        return group::kNever;
      }) {}

void Sending::attend(group::Time now) {
  hear(now);
  if (sender_.due() <= now) sender_.woken(now);
  take(now);
}

/// An answer says nothing of what was not sent.
void Sending::hear(group::Time now) {
  std::array<std::byte, kAnswerBytes + 1> bytes = {};
  transport::tcp::SocketAddress from;
  for (int i = 0; i < kHeard; ++i) {
    const std::size_t size = receive_from(socket_, bytes, from);
    if (size == 0) break;
    const auto answer = decode_answer(std::span(bytes).first(size), tag_);
    if (!answer || answer->member >= members_) continue;
    const std::int64_t sent = sender_.sent();
    const bool is_possible = answer->next <= sent && answer->end <= sent - answer->next &&
                             sender_.was_sent(answer->sending);
    if (!is_possible) continue;
    group::Packet heard{.is_ack = true, .segment = answer->next, .train = answer->sending};
    heard.sacks[0] = {.begin = answer->first, .end = answer->end};
    sender_.heard(answer->member, heard, now);
  }
  while (!chunks_.empty() && chunks_.front().end <= sender_.needed()) chunks_.pop_front();
}

void Sending::take(group::Time now) {
  const auto room = static_cast<std::size_t>(kTaken * options_.payload_bytes);
  while (wants_more()) {
    Chunk chunk{.first = sender_.written(), .bytes = std::vector<std::byte>(room)};
    const transport::tcp::Moved moved = transport::tcp::receive_some(stream_.get(), chunk.bytes);
    if (moved.closed || moved.error != 0) ended_ = true;
    if (moved.bytes == 0) return;
    chunk.bytes.resize(moved.bytes);
    const auto payload = static_cast<std::size_t>(options_.payload_bytes);
    chunk.end = chunk.first + static_cast<std::int64_t>((moved.bytes + payload - 1) / payload);
    chunks_.push_back(std::move(chunk));
    sender_.write(static_cast<std::int64_t>(moved.bytes), now);
  }
}

std::span<const std::byte> Sending::payload(std::int64_t number) const {
  const auto chunk = std::find_if(chunks_.rbegin(), chunks_.rend(),
                                  [&](const Chunk& one) { return one.first <= number; });
  check(chunk != chunks_.rend() && number < chunk->end, "what may be missed is kept");
  const auto size = static_cast<std::size_t>(options_.payload_bytes);
  const std::size_t begin = static_cast<std::size_t>(number - chunk->first) * size;
  return std::span(chunk->bytes).subspan(begin, std::min(size, chunk->bytes.size() - begin));
}

void Sending::emit(const group::Packet& packet) {
  const std::span<const std::byte> bytes = payload(packet.segment);
  const auto header = encode(
      Data{.number = packet.segment, .sending = packet.train, .asks = packet.asks_ack}, tag_);
  datagram_.assign(header.begin(), header.end());
  datagram_.insert(datagram_.end(), bytes.begin(), bytes.end());
  Sent sent = send_to(socket_, group_, datagram_);
  while (sent == Sent::Later) {
    std::array<pollfd, 2> waits{pollfd{.fd = socket_.get(), .events = POLLOUT, .revents = 0},
                                pollfd{.fd = wake_, .events = POLLIN, .revents = 0}};
    ::poll(waits.data(), waits.size(), -1);
    if (waits[1].revents != 0) return;
    sent = send_to(socket_, group_, datagram_);
  }
  if (sent == Sent::Yes) count_.datagram_bytes += static_cast<std::int64_t>(datagram_.size());
  count_.packets = sender_.counts().packets;
  count_.resent = sender_.counts().resent;
}

void Sending::wait_for(std::vector<pollfd>& waits) const {
  waits.push_back({.fd = socket_.get(), .events = POLLIN, .revents = 0});
  if (wants_more()) waits.push_back({.fd = stream_.get(), .events = POLLIN, .revents = 0});
}

}  // namespace tw::multicast
