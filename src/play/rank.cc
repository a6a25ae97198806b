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
