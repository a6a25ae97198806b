// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/traffic_source.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"

#include <algorithm>
#include <cmath>

namespace tw::sim {
namespace {

using spec::TrafficKind;

/// As traffic/player.cc has them.
constexpr std::size_t kOpenedInAdvance = 16;
constexpr std::size_t kMostLines = 4096;
/// Flows without end are sent in pieces of so much time, one of which waits behind the one that
/// flows.
constexpr double kPieceS = 0.1;
constexpr double kLeastPiece = 1 << 16;
/// More than travel at a time.
constexpr medium::Tag kPieces = 1 << 12;

}  // namespace

TrafficSource::TrafficSource(const load::Entry& entry, const spec::Experiment& experiment,
                             medium::Medium& medium, medium::Tag tags)
    : entry_(entry),
      medium_(medium),
      tags_(tags),
      begin_(*experiment.traffic[entry.number].start),
      sending_{.priority = *experiment.traffic[entry.number].priority},
      reuse_(*experiment.traffic[entry.number].reuse_connections),
      endless_flows_(entry.kind == TrafficKind::Long ? *experiment.traffic[entry.number].flows : 1),
      datagram_bytes_(load::payload_of_packet(
          TrafficKind::Constant,
          {.mtu = *experiment.network.mtu, .ip_version = *experiment.network.ip_version})),
      over_(entry.is_silent()) {
  if (over_) return;
  if (!is_endless() && entry_.kind != TrafficKind::File) {
    stream_.emplace(load::demand_of(entry_, experiment));
  }
  if (!is_endless()) draw();
  hello_ = medium_.connect(entry_.from, entry_.to, sending_);
  answer_ = medium_.connect(entry_.to, entry_.from, sending_);
}

bool TrafficSource::is_endless() const {
  return entry_.kind == TrafficKind::Long || entry_.kind == TrafficKind::Constant;
}

void TrafficSource::draw() {
  drawn_.reset();
  if (stream_) drawn_ = stream_->next();
  if (!stream_ && listed_ < entry_.list.size()) drawn_ = entry_.list[listed_++];
}

std::optional<Duration> TrafficSource::next() const {
  if (over_) return {};
  if (!begun_) return begin_;
  std::optional<Duration> next;
  if (entry_.duration) next = begin_ + *entry_.duration;
  const bool has_room = !idle_.empty() || !free_.empty() || lines_.size() < kMostLines;
  if (drawn_ && has_room && (!next || begin_ + drawn_->start < *next)) {
    next = begin_ + drawn_->start;
  }
  return next;
}

void TrafficSource::advance(Duration now) {
  if (over_ || now < begin_) return;
  if (!begun_) begin(now);
  if (entry_.duration && now >= begin_ + *entry_.duration) return end(now);
  launch_due(now);
}

void TrafficSource::begin(Duration now) {
  begun_ = true;
  if (is_endless()) return begin_endless(now);
  if (!reuse_) return;
  for (std::size_t i = 0; i < kOpenedInAdvance; ++i) {
    lines_.push_back({.connection = medium_.connect(entry_.from, entry_.to, sending_)});
    idle_.push_back(i);
  }
  outcome_.connections += kOpenedInAdvance;
}

void TrafficSource::begin_endless(Duration now) {
  medium::Sending sending = sending_;
  if (entry_.kind == TrafficKind::Constant) sending.manner = medium::Manner::Datagrams;
  sending.pace = entry_.payload_rate() / endless_flows_;
  for (int i = 0; i < endless_flows_; ++i) {
    lines_.push_back({.connection = medium_.connect(entry_.from, entry_.to, sending),
                      .phase = Phase::Flowing,
                      .flow = {.number = count_++, .due = begin_, .start = now}});
    ++outcome_.connections;
    ++outcome_.started;
    lateness_.add(now - begin_);
    send_piece(lines_.size() - 1, now);
    send_piece(lines_.size() - 1, now);
  }
}

void TrafficSource::send_piece(std::size_t at, Duration now) {
  const double rate = entry_.payload_rate().bits_per_second() / 8 / endless_flows_;
  double piece = std::max(kLeastPiece, rate * kPieceS);
  const auto unit = static_cast<double>(entry_.kind == TrafficKind::Constant ? datagram_bytes_ : 1);
  piece = std::ceil(piece / unit) * unit;
  const medium::Tag number = lines_[at].pieces++ % kPieces;
  medium_.send(lines_[at].connection, static_cast<std::int64_t>(piece),
               tag_of(at) + (number << kPieceShift), now);
}

void TrafficSource::launch_due(Duration now) {
  while (drawn_ && begin_ + drawn_->start <= now) {
    const std::optional<std::size_t> at = take_line();
    if (!at) return;
    launch(*at, now);
    draw();
  }
}

/// An idle connection, or a place for a new one.
std::optional<std::size_t> TrafficSource::take_line() {
  std::vector<std::size_t>& from = idle_.empty() ? free_ : idle_;
  if (from.empty()) {
    if (lines_.size() == kMostLines) return {};
    lines_.emplace_back();
    return lines_.size() - 1;
  }
  const std::size_t at = from.back();
  from.pop_back();
  return at;
}

void TrafficSource::launch(std::size_t at, Duration now) {
  Line& line = lines_[at];
  line.flow = {.number = count_++,
               .due = begin_ + drawn_->start,
               .start = now,
               .bytes = drawn_->size.count()};
  ++outcome_.started;
  lateness_.add(now - line.flow.due);
  offered_ += line.flow.bytes;
  if (line.connection >= 0) {
    line.phase = Phase::Flowing;
    medium_.send(line.connection, line.flow.bytes, tag_of(at), now);
    return;
  }
  line.connection = medium_.connect(entry_.from, entry_.to, sending_);
  line.before = 0;
  line.phase = Phase::Greeting;
  ++outcome_.connections;
  medium_.send(hello_, 0, tag_of(at), now);
}

void TrafficSource::left(medium::Tag tag, Duration now) {
  if (!over_ && is_endless()) send_piece(line_of(tag), now);
}

void TrafficSource::came(medium::Tag tag, Duration now) {
  if (over_ || is_endless()) return;
  const std::size_t at = line_of(tag);
  Line& of = lines_[at];
  switch (of.phase) {
    case Phase::Greeting:
      of.phase = Phase::Greeted;
      return medium_.send(answer_, 0, tag, now);
    case Phase::Greeted:
      of.phase = Phase::Flowing;
      return medium_.send(of.connection, of.flow.bytes, tag, now);
    case Phase::Flowing:
      of.phase = Phase::Answering;
      return medium_.send(answer_, 0, tag, now);
    case Phase::Answering:
      return finish(at, now);
    case Phase::Free:
      break;
  }
  check(false, "nothing comes of a line without a flow");
}

void TrafficSource::finish(std::size_t at, Duration now) {
  Line& line = lines_[at];
  line.flow.end = now;
  line.flow.acknowledged = line.flow.bytes;
  line.before += line.flow.bytes;
  line.phase = Phase::Free;
  ++outcome_.finished;
  outcome_.acknowledged += Bytes(line.flow.bytes);
  outcome_.sent += Bytes(line.flow.bytes);
  times_.finish(line.flow.bytes, now - line.flow.start);
  flows_.push_back(line.flow);
  if (reuse_) {
    idle_.push_back(at);
  } else {
    medium_.close(line.connection, now);
    line.connection = -1;
    free_.push_back(at);
  }
  launch_due(now);
  const bool none_left = !drawn_ && idle_.size() + free_.size() == lines_.size();
  if (none_left && !entry_.duration) end(now);
}

/// Bytes of the line's flow that are there.
std::int64_t TrafficSource::come_of(const Line& line, Duration now) const {
  if (line.phase == Phase::Greeting || line.phase == Phase::Greeted) return 0;
  if (line.phase == Phase::Answering) return line.flow.bytes;
  const std::int64_t come = medium_.arrived(line.connection, now) - line.before;
  if (is_endless()) return come;
  return std::clamp<std::int64_t>(come, 0, line.flow.bytes);
}

/// A flow that goes on is given up.
void TrafficSource::settle(Line& line, Duration now) {
  CrossFlow& flow = line.flow;
  flow.acknowledged = come_of(line, now);
  outcome_.acknowledged += Bytes(flow.acknowledged);
  if (entry_.kind == TrafficKind::Constant) {
    const double sent = entry_.payload_rate().bits_per_second() / 8 * seconds(now - begin_);
    outcome_.datagrams_sent = std::llround(sent / static_cast<double>(datagram_bytes_));
    outcome_.datagrams_received =
        std::min(*outcome_.datagrams_sent, flow.acknowledged / datagram_bytes_);
    flow.acknowledged = *outcome_.datagrams_received * datagram_bytes_;
    outcome_.acknowledged = Bytes(flow.acknowledged);
    outcome_.sent = Bytes(*outcome_.datagrams_sent * datagram_bytes_);
    offered_ = outcome_.sent.count();
    ++outcome_.finished;
    return;
  }
  if (entry_.kind == TrafficKind::Long) {
    // It lasts as long as it is let.
    flow.bytes = flow.acknowledged;
    flow.end = now;
    offered_ += flow.bytes;
    ++outcome_.finished;
  } else {
    ++outcome_.unfinished;
    times_.censor(flow.bytes);
  }
  outcome_.sent += Bytes(flow.bytes);
  flows_.push_back(flow);
}

void TrafficSource::end(Duration now) {
  if (over_) return;
  over_ = true;
  outcome_.elapsed_s = std::max(0.0, seconds(now - begin_));
  for (Line& line : lines_) {
    if (line.phase != Phase::Free) settle(line, now);
    if (line.connection >= 0) medium_.close(line.connection, now);
  }
  count_unstarted(now);
  if (outcome_.elapsed_s <= 0) return;
  outcome_.offered = BitRate(8 * static_cast<double>(offered_) / outcome_.elapsed_s);
  outcome_.achieved =
      BitRate(8 * static_cast<double>(outcome_.acknowledged.count()) / outcome_.elapsed_s);
}

/// Due before now, but all connections were busy.
void TrafficSource::count_unstarted(Duration now) {
  for (; drawn_ && begin_ + drawn_->start < now; draw()) {
    offered_ += drawn_->size.count();
    ++outcome_.unstarted;
  }
}

std::optional<load::Outcome> TrafficSource::outcome() const {
  check(over_, "what became of a load is known when it is over");
  if (entry_.is_silent()) return {};
  load::Outcome made = outcome_;
  made.requested = entry_.payload_rate();
  made.lateness_p50_s = lateness_.quantile(0.5);
  made.lateness_p99_s = lateness_.quantile(0.99);
  made.completion = times_.classes();
  return made;
}

}  // namespace tw::sim
