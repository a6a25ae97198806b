// SPDX-License-Identifier: Apache-2.0
// What connections of a network of fluids have of its ports, and what that makes happen next.

#include "trainwire/medium/flow_network.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tw::medium {
namespace {

constexpr double kSame = 1e-9;        ///< of rates
constexpr double kLongest_ns = 4e18;  ///< some 127 years: that much more can be told
constexpr double kUnpaced = 1.2;      ///< of its rate: the pace that Linux sees in a stream without
constexpr double kMakesUp_s = 0.1;    ///< of its pace: what a stream that was held up makes up for
constexpr double kOwes = 1500;        ///< bytes: less is no reason to hurry
constexpr double kFills = 0.99;       ///< of a line
constexpr double kOtherWeight = 0.05;  ///< of a weight: less is no reason to share anew

/// The first nanosecond at which `left` bytes have gone.
Duration time_for(double left, double rate) {
  return Duration(static_cast<std::int64_t>(std::min(kLongest_ns, std::ceil(left / rate * 1e9))));
}

/// The first nanosecond that is not before.
Duration first_at(double s) { return Duration(static_cast<std::int64_t>(std::ceil(s * 1e9))); }

}  // namespace

/// Datagrams have their pace before anybody else has a byte a second.
double FlowNetwork::weight_of(const FlowConnection& connection) const {
  if (connection.manner == Manner::Datagrams) return connection.pace;
  if (connection.group >= 0) return connection.path.weight;
  double weight = connection.path.weight * connection.luck * step_gain(connection);
  // Who has lost more has less, until its window has grown again; BBR's does not mind.
  const fluid::TcpPath& tcp = connection.path.tcp;
  if (connection.stream && tcp.loss > 0 && tcp.stack != fluid::Stack::Bbr) {
    weight *= connection.stream->window_bytes() / tcp.segment_bytes;
  }
  return weight;
}

/// What is left flows from now on.
void FlowNetwork::flow(int number, Duration now) {
  FlowConnection& connection = at(number);
  connection.rate = 0;
  connection.since = now;
  connection.cap = cap_of(connection, now);
  connection.weight = weight_of(connection);
  connection.share =
      sharing_.add(connection.path.ports, connection.weight, connection.cap, connection.priority);
  ++flowing_;
  of_share_.resize(std::max(of_share_.size(), static_cast<std::size_t>(connection.share) + 1));
  of_share_[static_cast<std::size_t>(connection.share)] = number;
  changed_ = true;
  if (connection.cap <= 0) expect(number, now);  // no rate will change
}

/// A stream that was held up sends as fast as it goes until it is at its pace again; it looks with each
/// message.
double FlowNetwork::cap_of(const FlowConnection& connection, Duration now) const {
  if (!connection.stream) return connection.pace;
  const double cap = connection.stream->cap(seconds(now), connection.left);
  return connection.owed > kOwes ? cap : std::min(connection.pace, cap);
}

void FlowNetwork::set_cap(FlowConnection& connection, Duration now) {
  if (connection.share < 0) return;
  const double weight = weight_of(connection);
  if (std::abs(weight - connection.weight) > kOtherWeight * connection.weight) {
    connection.weight = weight;
    sharing_.set_weight(connection.share, weight);
    changed_ = true;
  }
  const double cap = cap_of(connection, now);
  if (cap == connection.cap) return;
  connection.cap = cap;
  sharing_.set_cap(connection.share, cap);
  changed_ = true;
}

/// What has gone until now is accounted for.
void FlowNetwork::settle(FlowConnection& connection, Duration now) {
  const double passed_s = seconds(now - connection.since);
  const double gone = std::min(connection.left, connection.leaving() * passed_s);
  connection.left -= gone;
  connection.since = now;
  if (connection.stream && connection.pace < fluid::kNoCap) {
    connection.owed =
        std::min(connection.owed + connection.pace * passed_s - gone, kMakesUp_s * connection.pace);
  }
  if (connection.stream) {
    connection.stream->sent({.bytes = gone,
                             .seconds = passed_s,
                             .was_held = connection.rate >= connection.cap * (1 - kSame)},
                            seconds(now));
  }
  carry(connection, gone);
}

/// Of bytes that have left, those that come are on every port of the path.
void FlowNetwork::carry(FlowConnection& connection, double bytes) {
  if (connection.manner == Manner::Datagrams) bytes *= connection.rate / connection.pace;
  connection.carried += bytes;
  connection.payload += bytes / connection.worth;
  for (const int port : connection.path.ports) {
    carried_[static_cast<std::size_t>(port)] += bytes;
    payload_[static_cast<std::size_t>(port)] += bytes / connection.worth;
  }
}

/// Its share is free.
void FlowNetwork::stop_flowing(FlowConnection& connection) {
  ++connection.version;
  connection.rate = 0;
  if (connection.share < 0) return;
  sharing_.remove(std::exchange(connection.share, -1));
  --flowing_;
  changed_ = true;
}

void FlowNetwork::expect_at(int number, Duration when) {
  ends_.push_back({.at = when, .connection = number, .version = ++at(number).version});
  std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
}

/// What happens to it next at its present rate.
void FlowNetwork::expect(int number, Duration now) {
  FlowConnection& connection = at(number);
  constexpr Duration kNever = Duration::max();
  Duration next = kNever;
  const double rate = connection.leaving();
  if (rate > 0) next = now + time_for(connection.left, rate);
  if (const double bytes = until_heavier(connection); rate > 0 && bytes < connection.left) {
    next = now + time_for(bytes, rate);
  }
  if (connection.stream) {
    const double at_s = connection.stream->next(seconds(now), rate, connection.left);
    if (at_s < seconds(next)) next = std::max(now, first_at(at_s));
    const FlowMessage& message = connection.messages.front();
    if (const FlowHole* hole = next_hole(message, now); hole != nullptr && rate > 0) {
      const double until_hole = hole->at - (message.bytes - connection.left);
      next = std::min(next, now + time_for(std::max(0.0, until_hole), rate));
    }
  }
  if (const std::optional<double> more = until_taken(connection)) {
    if (*more <= 0) next = now;
    if (rate > 0) next = std::min(next, now + time_for(std::max(0.0, *more), rate));
  }
  ++connection.version;
  if (next != kNever) expect_at(number, next);  // otherwise it stands still
}

/// Something else than its rate has changed of what happens next.
void FlowNetwork::look_again(int number, Duration now) {
  FlowConnection& connection = at(number);
  settle(connection, now);
  set_cap(connection, now);
  expect(number, now);
}

double FlowNetwork::free_at(int port, double rate) const {
  return rate + std::max(0.0, paths_.capacity(port) - sharing_.carried(port));
}

/// What streams put into the queue before a port: what comes of those that burst, and how fast, and
/// what the others have of the line.
FlowNetwork::Bursts FlowNetwork::bursts_at(int port, Duration now) const {
  Bursts all;
  sharing_.for_each(port, [&](int share) {
    const FlowConnection& connection = at(of_share_[static_cast<std::size_t>(share)]);
    const double bytes = connection.stream ? connection.stream->bursts(connection.left) : 0;
    if (bytes <= 0) {
      all.others += connection.rate;
      return;
    }
    all.bytes += bytes;
    const double passed_s = seconds(now - connection.since);
    const double gone = std::min(connection.left, connection.rate * passed_s);
    const auto burst =
        connection.stream->burst({.bytes = gone, .seconds = passed_s}, connection.left);
    all.queued += burst.queued;
    all.to_come += burst.to_come;
    const double comes = free_at(connection.path.ports.front(), connection.rate);
    (connection.stream->is_after_pause() ? all.comes : all.doubles) += comes;
  });
  return all;
}

/// What acknowledgements wait for in the other host's own queue: what streams keep there while they fill
/// its line.
double FlowNetwork::answers_wait_s(const FlowConnection& connection) const {
  const int port = connection.path.back;
  const double line = paths_.capacity(port);
  if (line <= 0 || sharing_.carried(port) < kFills * line) return 0;
  double kept = 0;
  sharing_.for_each(port, [&](int share) {
    const FlowConnection& other = at(of_share_[static_cast<std::size_t>(share)]);
    if (!other.stream) return;
    const double rtt_s = other.path.tcp.rtt_s;
    kept += std::min({other.left, other.stream->ahead(other.rate),
                      paths_.kept_in_host(port, kUnpaced * other.rate, rtt_s)});
  });
  return kept / line;
}

/// How much of its round a stream may have there until bursts have filled the room.
void FlowNetwork::meet_bursts(const FlowConnection& connection, const Slowest& slowest,
                              fluid::TcpStream::Queue& queue, Duration now) const {
  const double own = connection.stream->bursts(connection.left);
  if (own <= 0) return;
  const Bursts all = bursts_at(slowest.port, now);
  const double goes = std::max(slowest.goes, paths_.capacity(slowest.port) - all.others);
  const double doubles = std::min(all.doubles, 2 * goes);
  const double comes = all.comes + doubles;
  queue.comes = free_at(connection.path.ports.front(), connection.rate);
  if (!connection.stream->is_after_pause()) queue.comes *= doubles / all.doubles;
  if (comes <= goes) return;
  queue.part = 1 - goes / comes;
  queue.fits = slowest.room / queue.part * own / all.bytes;
  const double until_full = std::max(0.0, slowest.room - all.queued) / queue.part;
  if (until_full < all.to_come) queue.more = until_full * queue.comes / comes;
}

/// What of the queue before its slowest line is a stream's. What its own host's line holds back waits
/// there and is not lost.
void FlowNetwork::meet_queue(FlowConnection& connection, Duration now) {
  if (connection.rate <= 0) return;  // it puts nothing there
  const int first = connection.path.ports.front();
  double least = free_at(first, connection.rate) * (1 - kSame);
  int slowest = -1;
  for (const int port : connection.path.ports) {
    if (port == first || free_at(port, connection.rate) >= least) continue;
    least = free_at(port, connection.rate);
    slowest = port;
  }
  fluid::TcpStream::Queue queue{.rate = connection.rate};
  if (slowest >= 0) {
    const double line = paths_.capacity(slowest);
    const double room =
        paths_.share_of_payload() * static_cast<double>(paths_.request(slowest).queue.count());
    queue.room = room * least / line;
    queue.rate = least;
    const double faster = free_at(first, connection.rate) - least;
    queue.fills_s = faster > 0 ? queue.room / faster : 0;
    meet_bursts(connection, {.port = slowest, .goes = least, .room = room}, queue, now);
  }
  connection.stream->meets(queue, seconds(now));
}

void FlowNetwork::solve(Duration now) {
  while (std::exchange(changed_, false)) {
    for (const int share : sharing_.solve()) {
      const int number = of_share_[static_cast<std::size_t>(share)];
      FlowConnection& connection = at(number);
      settle(connection, now);
      connection.rate = sharing_.rate(share);
      if (connection.stream) meet_queue(connection, now);
      // A window that has grown since its cap was set.
      if (connection.stream && connection.rate >= connection.cap) set_cap(connection, now);
      expect(number, now);
    }
  }
}

void FlowNetwork::forget_stale() {
  while (!ends_.empty() && ends_.front().version != at(ends_.front().connection).version) {
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
  }
}

std::optional<int> FlowNetwork::due(Duration now) {
  forget_stale();
  if (ends_.empty() || ends_.front().at > now) return {};
  return ends_.front().connection;
}

}  // namespace tw::medium
