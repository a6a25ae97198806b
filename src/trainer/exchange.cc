// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/exchange.h"

#include "trainwire/os/clock.h"
#include "trainwire/trainer/add.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>

namespace tw::trainer {
namespace {

using collective::Combine;
using transport::tcp::Moved;

/// Sums pass through here: small enough for the second-level cache.
constexpr std::size_t kScratch = 128 * 1024;
/// Most bytes of one call, so that no connection starves the others.
constexpr std::int64_t kMost = 1 << 20;
constexpr std::int64_t kTickNs = 10'000'000;
/// Of payload, sent and received: a larger exchange gains nothing by trying instead of waiting.
constexpr std::int64_t kBriefBytes = 1 << 20;
constexpr std::int64_t kTryNs = 100'000;

std::span<std::byte> range(std::span<std::byte> all, std::int64_t begin, std::int64_t end) {
  return all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

}  // namespace

Exchange::Exchange(std::span<float> payload,
                   std::span<const transport::tcp::Connection> connections, ExchangeOptions options)
    : payload_(payload),
      connections_(connections),
      options_(std::move(options)),
      channels_(connections.size()),
      counts_(connections.size()),
      scratch_(kScratch),
      carries_(connections.size() * kElementBytes),
      patience_(options_.patience) {
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    channels_[i].socket = connections[i].socket.get();
  }
}

ExchangeTimes Exchange::run(Parts& parts, std::int64_t step) {
  step_ = step;
  begin(parts);
  while (left_ > 0) {
    if (move(parts)) {
      if (times_.first_ns == 0) times_.first_ns = os::monotonic_ns();
      tries_from_ns_ = 0;
    } else if (!tries_again()) {
      wait(parts);
    }
  }
  times_.end_ns = os::monotonic_ns();
  times_.queued_end = queued();
  return times_;
}

void Exchange::begin(const Parts& parts) {
  check(parts.sends.size() == channels_.size(), "the parts were made for these connections");
  times_ = {.begin_ns = os::monotonic_ns()};
  patience_.restart();
  left_ = 0;
  adding_left_ = 0;
  sends_kept_.assign(parts.parts.size(), false);
  std::int64_t bytes = 0;
  for (Channel& channel : channels_) channel.next_send = channel.next_receive = channel.carried = 0;
  for (const Part& part : parts.parts) {
    check(part.combine != Combine::Average, "averaging is asynchronous: see pair_averager.h");
    if (part.finished()) continue;
    ++left_;
    if (part.combine != Combine::Replace) ++adding_left_;
    bytes += part.end - part.begin;
  }
  brief_ = bytes <= kBriefBytes;
  if (adding_left_ == 0) times_.summed_ns = times_.begin_ns;
}

bool Exchange::move(Parts& parts) {
  bool moved = false;
  for (std::size_t wire = 0; wire < channels_.size(); ++wire) {
    moved |= receive(parts, wire);
    moved |= send(parts, wire);
  }
  return moved;
}

bool Exchange::send(Parts& parts, std::size_t wire) {
  Channel& channel = channels_[wire];
  const std::vector<int>& queue = parts.sends[wire];
  bool any = false;
  while (channel.writable && channel.next_send < queue.size()) {
    const auto number = static_cast<std::size_t>(queue[channel.next_send]);
    Part& part = parts.parts[number];
    const std::int64_t limit = std::min(parts.limit(part), part.position + kMost);
    if (limit > part.position) {
      const std::span<std::byte> source =
          sends_kept_[number] ? std::span(kept_) : std::as_writable_bytes(payload_);
      const Moved moved =
          transport::tcp::send_some(channel.socket, range(source, part.position, limit));
      if (moved.error != 0) fail(wire, moved);
      channel.writable = !moved.blocked;
      part.position += static_cast<std::int64_t>(moved.bytes);
      counts_[wire].sent += static_cast<std::int64_t>(moved.bytes);
      any |= moved.bytes > 0;
      if (moved.blocked) break;
    }
    if (!part.finished()) {
      if (limit == part.position) break;
      continue;
    }
    if (part.begin != part.end) finish_part(parts, part);
    ++channel.next_send;
  }
  return any;
}

bool Exchange::receive(Parts& parts, std::size_t wire) {
  Channel& channel = channels_[wire];
  const std::vector<int>& queue = parts.receives[wire];
  bool any = false;
  while (channel.readable && channel.next_receive < queue.size()) {
    Part& part = parts.parts[static_cast<std::size_t>(queue[channel.next_receive])];
    const std::int64_t limit = std::min(parts.limit(part), part.position + kMost);
    if (part.position == part.begin && limit > part.position) keep_unsent(parts, part);
    if (limit > part.position) any |= receive_into(part, wire, limit);
    if (!part.finished()) break;
    if (part.begin != part.end) finish_part(parts, part);
    ++channel.next_receive;
  }
  return any;
}

/// Before `part` writes over what an exchange has still to send.
void Exchange::keep_unsent(const Parts& parts, const Part& part) {
  if (part.exchanged < 0) return;
  const auto number = static_cast<std::size_t>(part.exchanged);
  const Part& sent = parts.parts[number];
  if (sent.finished() || sends_kept_[number]) return;
  const std::span<std::byte> payload = std::as_writable_bytes(payload_);
  kept_.resize(payload.size());
  std::ranges::copy(range(payload, sent.position, sent.end), kept_.begin() + sent.position);
  sends_kept_[number] = true;
}

bool Exchange::receive_into(Part& part, std::size_t wire, std::int64_t limit) {
  Channel& channel = channels_[wire];
  Moved moved;
  if (part.combine == Combine::Replace) {
    moved = transport::tcp::receive_some(channel.socket, bytes(part.position, limit));
    part.position += static_cast<std::int64_t>(moved.bytes);
  } else {
    // Only whole elements can be added; what came of the next one waits in the carry.
    std::byte* const carry = &carries_[wire * kElementBytes];
    std::memcpy(scratch_.data(), carry, channel.carried);
    const auto room = std::min(static_cast<std::size_t>(limit - part.position), scratch_.size());
    moved = transport::tcp::receive_some(
        channel.socket, std::span(scratch_).subspan(channel.carried, room - channel.carried));
    const std::size_t all = channel.carried + moved.bytes;
    const std::size_t whole = all / kElementBytes;
    float* const into = payload_.data() + part.position / kElementBytes;
    options_.add(into, scratch_.data(), whole);
    channel.carried = all - whole * kElementBytes;
    std::memcpy(carry, scratch_.data() + whole * kElementBytes, channel.carried);
    part.position += static_cast<std::int64_t>(whole * kElementBytes);
  }
  if (moved.closed || moved.error != 0) fail(wire, moved);
  channel.readable = !moved.blocked;
  return moved.bytes > 0;
}

void Exchange::finish_part(const Parts& parts, const Part& part) {
  --left_;
  if (options_.transfers != nullptr) {
    options_.transfers->add(step_, parts.bucket, parts.transfer(part),
                            connections_[static_cast<std::size_t>(part.connection)].lane,
                            part.range());
  }
  (part.combine == Combine::Replace ? times_.replaced_bytes : times_.added_bytes) +=
      part.end - part.begin;
  if (part.combine == Combine::Replace || --adding_left_ > 0) return;
  times_.summed_ns = os::monotonic_ns();
  times_.queued_summed = queued();
}

/// Where answers come at once, being woken takes longer than the answer: exchanges that are over
/// soon try again for a while before they wait.
bool Exchange::tries_again() {
  if (!brief_) return false;
  const std::int64_t now = os::monotonic_ns();
  if (tries_from_ns_ == 0) tries_from_ns_ = now;
  if (now - tries_from_ns_ > kTryNs) return false;
  ::sched_yield();
  for (Channel& channel : channels_) channel.readable = channel.writable = true;
  return true;
}

void Exchange::wait(const Parts& parts) {
  std::vector<pollfd> waits;
  waits.reserve(channels_.size());
  for (std::size_t wire = 0; wire < channels_.size(); ++wire) {
    const Channel& channel = channels_[wire];
    short events = 0;
    if (!channel.readable && channel.next_receive < parts.receives[wire].size()) events |= POLLIN;
    if (!channel.writable && channel.next_send < parts.sends[wire].size()) events |= POLLOUT;
    waits.push_back({.fd = channel.socket, .events = events, .revents = 0});
  }
  const bool patient = patience_.wait(waits);
  for (std::size_t wire = 0; wire < channels_.size(); ++wire) {
    if (waits[wire].revents == 0) continue;
    // A broken connection is both: the next call tells how.
    if ((waits[wire].revents & ~POLLOUT) != 0) channels_[wire].readable = true;
    if ((waits[wire].revents & ~POLLIN) != 0) channels_[wire].writable = true;
    if ((waits[wire].revents & (POLLERR | POLLHUP)) != 0 && waits[wire].events == 0) {
      fail(wire, {.closed = true});
    }
  }
  if (!patient) complain(parts);
  const std::int64_t now = os::monotonic_ns();
  if (options_.tick && now - ticked_ns_ >= kTickNs) {
    ticked_ns_ = now;
    options_.tick(now);
  }
}

std::int64_t Exchange::queued() const {
  std::int64_t sum = 0;
  for (const Channel& channel : channels_) sum += transport::tcp::queued_bytes(channel.socket);
  return sum;
}

std::span<std::byte> Exchange::bytes(std::int64_t begin, std::int64_t end) {
  return range(std::as_writable_bytes(payload_), begin, end);
}

void Exchange::fail(std::size_t wire, const Moved& moved) const {
  throw PeerLost(
      fmt::format("rank {} {}", connections_[wire].peer,
                  moved.closed ? "closed the connection"
                               : fmt::format("cannot be reached: {}", std::strerror(moved.error))));
}

void Exchange::complain(const Parts& parts) const {
  for (std::size_t wire = 0; wire < channels_.size(); ++wire) {
    if (channels_[wire].next_receive < parts.receives[wire].size()) {
      throw PeerLost(fmt::format("nothing came from rank {} for {}", connections_[wire].peer,
                                 readable(options_.patience)),
                     PeerLost::How::Silent);
    }
  }
  throw PeerLost(fmt::format("nothing moved for {}", readable(options_.patience)),
                 PeerLost::How::Silent);
}

}  // namespace tw::trainer
