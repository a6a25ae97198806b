// SPDX-License-Identifier: Apache-2.0
#include "trainwire/play/rank.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/cursor.h"

#include <algorithm>
#include <utility>

namespace tw::play {

using workload::Act;
using workload::Part;
using workload::What;
using workload::Wire;

namespace {

/// With no more a rank looks at all of its lines whenever something happens.
constexpr std::size_t kFewLines = 8;

/// Two ranks that draw peers have a connection for the pulls of each.
int pulling_lane(int rank, int peer) { return rank < peer ? 0 : 1; }

std::vector<Wire> wires_of(const workload::Training& training, const workload::Exchanges* exchanges,
                           int rank) {
  const int lanes = exchanges == nullptr ? 2 : training.connections;
  std::vector<Wire> wires;
  for (const int peer :
       exchanges == nullptr ? peers_of(training, rank) : peers_of(*exchanges, rank)) {
    for (int lane = 0; lane < lanes; ++lane) wires.push_back({.peer = peer, .lane = lane});
  }
  return wires;
}

std::size_t moving(const workload::Parts& parts) {
  return static_cast<std::size_t>(std::count_if(parts.parts.begin(), parts.parts.end(),
                                                [](const Part& p) { return p.begin != p.end; }));
}

Message message_of(const workload::Parts& parts, const Part& part, const Wire& wire,
                   std::int64_t step) {
  return {.kind = Kind::Gradient,
          .step = step,
          .bucket = parts.bucket,
          .transfer = parts.transfer(part),
          .lane = wire.lane,
          .range = part.range()};
}

}  // namespace

Rank::Rank(const workload::Training& training, const workload::Exchanges* exchanges,
           const Driver& driver, int rank, Turns& turns)
    : training_(training),
      driver_(driver),
      rank_(rank),
      turns_(turns),
      script_(step_script(training, rank)),
      repeats_(script_repeats(training, rank)),
      clock_(training, rank) {
  const std::vector<Wire> wires = wires_of(training, exchanges, rank);
  for (const Wire& wire : wires) lines_.push_back({.wire = wire});
  for (const int bucket : start_buckets(training)) {
    start_.push_back(start_parts(training, *exchanges, rank, bucket, wires));
  }
  if (exchanges == nullptr) return;
  for (int bucket = 0; bucket < static_cast<int>(training.buckets.size()); ++bucket) {
    buckets_.push_back(step_parts(training, *exchanges, rank, bucket, wires));
    unserved_ +=
        (training.warmup + training.steps) * static_cast<std::int64_t>(moving(buckets_.back()) / 2);
  }
}

void Rank::begin(Duration now) {
  for (workload::Parts& parts : start_) {
    orders_.push_back({.step = -training_.warmup - 1, .parts = &parts});
  }
  proceed(now);
}

void Rank::woke(Duration now) { proceed(now); }

void Rank::left(const Message& message, Duration now) {
  if (message.kind != Kind::Gradient) return;
  Line& line = line_to(message.transfer.to, message.lane);
  line.busy = false;
  tell(message, now);
  if (active_ == nullptr) {
    // An answer, to a worker or to a peer that pulls.
    --unserved_;
    stirred_.push_back(static_cast<std::size_t>(&line - lines_.data()));
  } else {
    const auto wire = static_cast<std::size_t>(&line - lines_.data());
    const int part = active_->sends[wire][line.next_send++];
    Part& sent = active_->parts[static_cast<std::size_t>(part)];
    sent.position = sent.end;
    --left_;
    ended(part);
    stirred_.push_back(wire);
  }
  proceed(now);
}

void Rank::came(const Message& message, Duration now) {
  if (message.kind == Kind::Side) {
    ++heard_[message.transfer.from];
  } else if (message.kind == Kind::Request) {
    // Whatever this rank does meanwhile, it answers.
    Message answer = message;
    answer.kind = Kind::Gradient;
    std::swap(answer.transfer.from, answer.transfer.to);
    driver_.send(answer);
  } else if (training_.row().draws_peers) {
    tell(message, now);
    pulled_ = true;
  } else {
    Line& line = line_to(message.transfer.from, message.lane);
    if (!line.coming.empty() && line.coming.front().message == message)
      line.coming.erase(line.coming.begin());
    line.came.push_back(message);
    stirred_.push_back(static_cast<std::size_t>(&line - lines_.data()));
  }
  proceed(now);
}

void Rank::began(const Message& message, std::uint64_t as, Duration now) {
  line_to(message.transfer.from, message.lane).coming.push_back({.message = message, .as = as});
  proceed(now);
}

/// As far as possible without time passing.
void Rank::proceed(Duration now) {
  while (!done_) {
    if (exchange(now)) continue;
    if (!started_) {
      if (!idle()) return;
      started_ = true;
      begin_step(now);
      continue;
    }
    if (round_ == repeats_) {
      // Where forward overlaps, the last step's exchange is still to end.
      if (!idle()) return;
      done_ = true;
      return;
    }
    if (act_ == script_.size()) {
      end_step(now);
      continue;
    }
    if (!carry_out(script_[act_], now)) return;
    ++act_;
    entered_ = false;
  }
}

void Rank::begin_step(Duration now) {
  done_ = round_ == repeats_ && idle();
  act_ = 0;
  entered_ = false;
  step_begin_ = now;
  if (round_ == repeats_) return;
  clock_.begin_step(now.count());
  if (driver_.steps && script_.front().what != What::Serve) {
    driver_.steps(rank_, round_ - training_.warmup, now);
  }
}

void Rank::end_step(Duration now) {
  const bool serves = script_.front().what == What::Serve;
  if (driver_.stepped && !serves) {
    driver_.stepped(
        {.rank = rank_, .step = round_ - training_.warmup, .begin = step_begin_, .end = now});
  }
  ++round_;
  begin_step(now);
}

/// Whether it is done.
bool Rank::carry_out(const Act& act, Duration now) {
  const std::int64_t step = round_ - training_.warmup;
  switch (act.what) {
    case What::Forward:
      return compute_until(act.bucket == workload::kWholePayload
                               ? clock_.forward_end_ns()
                               : clock_.forward_ns(training_.forward_end(act.bucket)),
                           now);
    case What::Need:
      return need(act.bucket, now);
    case What::Backward:
      return compute_until(
          clock_.ready_ns(act.bucket == workload::kWholePayload
                              ? training_.compute.backward
                              : training_.buckets[static_cast<std::size_t>(act.bucket)].ready),
          now);
    case What::Agree:
      return agree();
    case What::Begin:
      orders_.push_back({.step = step, .parts = &buckets_[static_cast<std::size_t>(act.bucket)]});
      return true;
    case What::Await:
      return idle();
    case What::Update:
      return true;
    case What::Pull:
      return pull();
    case What::Serve:
      return serve(now);
  }
  return true;
}

bool Rank::compute_until(std::int64_t at_ns, Duration now) {
  if (now.count() >= at_ns) return true;
  if (!entered_) driver_.wake(rank_, Duration(at_ns));
  entered_ = true;
  return false;
}

/// While it waits, its computing stands still.
bool Rank::need(int bucket, Duration now) {
  const workload::Parts* parts = &buckets_[static_cast<std::size_t>(bucket)];
  const bool is_there =
      active_ != parts && std::none_of(orders_.begin(), orders_.end(),
                                       [&](const Order& order) { return order.parts == parts; });
  if (!std::exchange(entered_, true)) needs_since_ = now;
  if (is_there) clock_.pause((now - needs_since_).count());
  return is_there;
}

bool Rank::agree() {
  std::map<int, std::int64_t> connections;
  for (const int peer : side_peers(training_, rank_)) {
    ++connections[peer];
    if (entered_) continue;
    driver_.send({.kind = Kind::Side,
                  .step = round_ - training_.warmup,
                  .transfer = {.round = 0,
                               .from = rank_,
                               .to = peer,
                               .chunk = 0,
                               .width = 1,
                               .combine = collective::Combine::Replace}});
  }
  if (!entered_) ++agreed_;
  entered_ = true;
  return std::all_of(connections.begin(), connections.end(),
                     [&](const auto& with) { return heard_[with.first] >= agreed_ * with.second; });
}

bool Rank::pull() {
  if (training_.ranks() < 2 || training_.elements() == 0) return true;
  if (entered_) return pulled_;
  entered_ = true;
  pulled_ = false;
  const std::int64_t step = round_ - training_.warmup;
  const collective::Schedule schedule = step_schedule(training_, step);
  collective::Cursor cursor(schedule, rank_);
  while (cursor.sends()) cursor.advance();
  Message request{.kind = Kind::Request,
                  .step = step,
                  .transfer = cursor.transfer(),
                  .lane = pulling_lane(rank_, cursor.peer()),
                  .range = training_.range(workload::kWholePayload)};
  std::swap(request.transfer.from, request.transfer.to);
  driver_.send(request);
  return false;
}

/// Answers what has come, each worker for itself.
bool Rank::serve(Duration now) {
  if (!std::exchange(entered_, true)) {
    stirred_.clear();
    for (std::size_t wire = 0; wire < lines_.size(); ++wire) stirred_.push_back(wire);
  }
  for (const std::size_t wire : std::exchange(stirred_, {})) {
    Line& line = lines_[wire];
    while (!line.came.empty() && !line.busy) {
      const Message push = line.came.front();
      line.came.erase(line.came.begin());
      tell(push, now);
      const workload::Parts& parts = buckets_[static_cast<std::size_t>(push.bucket)];
      const Part& reply = parts.parts[static_cast<std::size_t>(parts.sends[wire].at(0))];
      line.busy = true;
      driver_.send(message_of(parts, reply, line.wire, push.step));
    }
  }
  return unserved_ == 0;
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
      line.send_gate = line.receive_gate = -1;
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
    if (line.came.empty()) return begin_receiving(line, number);
    if (!active_->may_begin(part)) {
      wait_at(part, at, line.receive_gate);
      return false;
    }
    const Message expected = message_of(*active_, part, line.wire, active_step_);
    check(line.came.front() == expected, "both ends of a connection list its transfers alike");
    tell(expected, now);
    line.came.erase(line.came.begin());
    part.position = part.end;
    std::erase_if(receiving_, [&](const Receiving& r) { return r.part == number; });
    --left_;
    ended(number);
  }
  ++line.next_receive;
  return true;
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

void Rank::tell(const Message& message, Duration now) const {
  if (driver_.moved) driver_.moved({.rank = rank_, .message = message, .at = now});
}

Rank::Line& Rank::line_to(int peer, int lane) {
  const auto at = std::lower_bound(lines_.begin(), lines_.end(), std::pair(peer, lane),
                                   [](const Line& line, const std::pair<int, int>& wire) {
                                     return std::pair(line.wire.peer, line.wire.lane) < wire;
                                   });
  check(at != lines_.end() && at->wire == Wire{.peer = peer, .lane = lane},
        "there is a connection to every peer");
  return *at;
}

}  // namespace tw::play
