// SPDX-License-Identifier: Apache-2.0
// What a rank does in the exchanges that it has begun.
#include "trainwire/base/error.h"
#include "trainwire/play/rank.h"

#include <algorithm>
#include <utility>

namespace tw::play {

using workload::Part;

namespace {

/// With no more a rank looks at all of its lines whenever something happens.
constexpr std::size_t kFewLines = 8;

}  // namespace

std::size_t Rank::moving(const workload::Parts& parts) {
  return static_cast<std::size_t>(std::count_if(parts.parts.begin(), parts.parts.end(),
                                                [](const Part& p) { return p.begin != p.end; }));
}

Message Rank::message_of(const workload::Parts& parts, const Part& part, const workload::Wire& wire,
                         std::int64_t step) {
  return {.kind = Kind::Gradient,
          .step = step,
          .bucket = parts.bucket,
          .transfer = parts.transfer(part),
          .lane = wire.lane,
          .range = part.range()};
}

/// Whether anything went on in the exchanges that were begun.
bool Rank::exchange(Duration now) {
  if (active_ == nullptr) {
    const auto next = next_order();
    if (next == orders_.end()) return false;
    active_ = next->parts;
    active_step_ = next->step;
    orders_.erase(next);
    active_->rewind();
    left_ = moving(*active_);
    stirred_.clear();
    gates_at_.clear();
    lines_at_gate_.clear();
    for (std::size_t wire = 0; wire < lines_.size(); ++wire) {
      Line& line = lines_[wire];
      line.next_send = line.next_receive = 0;
      line.send_gate = line.receive_gate = line.reading = -1;
      stirred_.push_back(wire);
    }
  }
  const bool any = has_few_lines() ? look_at_all(now) : look_at_stirred(now);
  if (left_ > 0) return any;
  active_ = nullptr;
  return true;
}

/// The first that was begun; where forward overlaps, the one whose turn it is.
std::vector<Rank::Order>::iterator Rank::next_order() {
  const bool is_start = !started_;
  if (orders_.empty() || is_start || !training_.forward_overlap) return orders_.begin();
  // The last bucket is the first that forward needs.
  const auto urgent = std::max_element(
      orders_.begin(), orders_.end(),
      [](const Order& a, const Order& b) { return a.parts->bucket < b.parts->bucket; });
  if (training_.asynchronous()) return urgent;
  if (!turns_.at(turn_) && !training_.is_server(rank_)) {
    turns_.decide({.step = urgent->step, .bucket = urgent->parts->bucket});
  }
  const auto turn = turns_.at(turn_);
  if (!turn) return orders_.end();
  const auto found = std::find_if(orders_.begin(), orders_.end(), [&](const Order& order) {
    return *turn == Turn{.step = order.step, .bucket = order.parts->bucket};
  });
  if (found != orders_.end()) ++turn_;
  return found;
}

/// Where bytes are passed on as they come, or lanes share a transfer, gates open bit by bit.
bool Rank::has_few_lines() const {
  return lines_.size() <= kFewLines || training_.connections > 1 || passes_through();
}

bool Rank::look_at_all(Duration now) {
  stirred_.clear();
  bool any = false;
  for (std::size_t wire = 0; wire < lines_.size(); ++wire) {
    while (send_next(lines_[wire], wire)) any = true;
    while (receive_next(lines_[wire], wire, now)) any = true;
  }
  return any;
}

bool Rank::look_at_stirred(Duration now) {
  bool any = false;
  while (!stirred_.empty()) {
    const std::size_t wire = stirred_.back();
    stirred_.pop_back();
    while (send_next(lines_[wire], wire)) any = true;
    while (receive_next(lines_[wire], wire, now)) any = true;
  }
  return any;
}

/// A line is looked at again when what the part waits for has ended. REQUIRES: something has not.
void Rank::wait_at(const Part& part, std::size_t line, int& seen) {
  if (seen == part.gate || has_few_lines()) return;
  seen = part.gate;
  std::vector<std::size_t>& lines = lines_at_gate_[part.gate];
  if (lines.empty()) gates_at_[active_->blocker(part)].push_back(part.gate);
  lines.push_back(line);
}

/// Gates that were closed by this part alone open; others wait for the next one.
void Rank::ended(int part) {
  const auto found = gates_at_.find(part);
  if (found == gates_at_.end()) return;
  const std::vector<int> gates = std::move(found->second);
  gates_at_.erase(found);
  for (const int gate : gates) {
    const auto waiting = lines_at_gate_.find(gate);
    // All parts of a gate move the same bytes, so any of the lines' speaks for all.
    const Line& one = lines_[waiting->second.front()];
    const std::size_t wire = waiting->second.front();
    const int number = one.send_gate == gate ? active_->sends[wire][one.next_send]
                                             : active_->receives[wire][one.next_receive];
    const int next = active_->blocker(active_->parts[static_cast<std::size_t>(number)]);
    if (next >= 0) {
      gates_at_[next].push_back(gate);
      continue;
    }
    for (const std::size_t line : waiting->second) stirred_.push_back(line);
    lines_at_gate_.erase(waiting);
  }
}

bool Rank::send_next(Line& line, std::size_t at) {
  const std::vector<int>& queue = active_->sends[at];
  if (line.busy || line.next_send == queue.size()) return false;
  const Part& part = active_->parts[static_cast<std::size_t>(queue[line.next_send])];
  if (part.begin == part.end) {
    ++line.next_send;
    return true;
  }
  if (!may_begin(part)) {
    wait_at(part, at, line.send_gate);
    return false;
  }
  line.busy = true;
  const Message message = message_of(*active_, part, line.wire, active_step_);
  if (passes_through()) {
    driver_.follow(message, behind_);
  } else {
    driver_.send(message);
  }
  return true;
}

bool Rank::passes_through() const {
  return driver_.follow && active_->passing == collective::Passing::CutThrough;
}

/// Whether all that it waits for have ended, or at least begun where bytes are passed on as they
/// come. What is sent follows what is received; what is received follows what it writes over.
bool Rank::may_begin(const Part& part) {
  behind_.clear();
  if (!passes_through()) return active_->may_begin(part);
  for (const int number : active_->pending(part)) {
    const Part& earlier = active_->parts[static_cast<std::size_t>(number)];
    if (earlier.finished() || earlier.begin >= part.end || part.begin >= earlier.end) continue;
    if (earlier.sends) {
      if (part.sends || !is_leaving(number)) return false;
      continue;
    }
    const auto coming = std::find_if(receiving_.begin(), receiving_.end(),
                                     [&](const Receiving& r) { return r.part == number; });
    if (coming == receiving_.end()) return false;
    behind_.push_back(coming->as);
  }
  return true;
}

bool Rank::is_leaving(int number) const {
  const auto wire =
      static_cast<std::size_t>(active_->parts[static_cast<std::size_t>(number)].connection);
  const Line& line = lines_[wire];
  return line.busy && active_->sends[wire][line.next_send] == number;
}

bool Rank::receive_next(Line& line, std::size_t at, Duration now) {
  const std::vector<int>& queue = active_->receives[at];
  if (line.next_receive == queue.size()) return false;
  const int number = queue[line.next_receive];
  Part& part = active_->parts[static_cast<std::size_t>(number)];
  if (part.begin != part.end) {
    if (line.came.empty() && passes_through()) return begin_receiving(line, number);
    if (!active_->may_begin(part)) {
      wait_at(part, at, line.receive_gate);
      return false;
    }
    read(line, number);
    if (line.came.empty()) return false;
    // What switches sum or copy may overtake what comes by itself.
    const Message expected = message_of(*active_, part, line.wire, active_step_);
    const auto found = std::find(line.came.begin(), line.came.end(), expected);
    if (found == line.came.end()) return false;
    tell(expected, now);
    line.came.erase(found);
    part.position = part.end;
    std::erase_if(receiving_, [&](const Receiving& r) { return r.part == number; });
    --left_;
    ended(number);
  }
  ++line.next_receive;
  return true;
}

/// From now on what comes of a part is read.
void Rank::read(Line& line, int number) {
  if (!driver_.reads || std::exchange(line.reading, number) == number) return;
  driver_.reads(message_of(*active_, active_->parts[static_cast<std::size_t>(number)], line.wire,
                           active_step_));
}

/// Whether a part begins to be received only now.
bool Rank::begin_receiving(const Line& line, int number) {
  const Part& part = active_->parts[static_cast<std::size_t>(number)];
  if (line.coming.empty() || !passes_through() || !may_begin(part)) return false;
  const Coming& coming = line.coming.front();
  if (std::any_of(receiving_.begin(), receiving_.end(),
                  [&](const Receiving& r) { return r.part == number; })) {
    return false;
  }
  check(coming.message == message_of(*active_, part, line.wire, active_step_),
        "both ends of a connection list its transfers alike");
  receiving_.push_back({.part = number, .as = coming.as});
  return true;
}

}  // namespace tw::play
