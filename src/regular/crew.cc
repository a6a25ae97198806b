// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/crew.h"

#include "trainwire/regular/at_once.h"
#include "trainwire/regular/bucket_times.h"

#include <algorithm>
#include <utility>

namespace tw::regular {

using workload::Training;

std::string asks_for_players(const Training& training) {
  if (training.row().draws_peers) return "ranks draw their peers";
  if (training.asynchronous()) return "servers answer each worker for itself";
  if (training.row().passing != collective::Passing::Whole)
    return "transfers are passed on as they come";
  if (std::string more = asks_beyond_exchanges(training); !more.empty()) return more;
  const int chunks = step_schedule(training).chunks;
  if (std::any_of(training.buckets.begin(), training.buckets.end(), [&](const workload::Bucket& b) {
        return b.elements > 0 && b.elements < chunks;
      })) {
    return "buckets have fewer elements than chunks";
  }
  return {};
}

Crew::Crew(const Training& training, Tasks tasks, Asks asks)
    : training_(training),
      tasks_(std::move(tasks)),
      chunks_(step_schedule(training).chunks),
      asks_(std::move(asks)),
      pending_(tasks_.size()),
      times_(static_cast<std::size_t>(training.warmup + training.steps)) {
  for (int rank = 0; rank < training.ranks(); ++rank) ranks_.push_back({.clock = {training, rank}});
  answer_.sent_bytes.resize(ranks_.size());
  answer_.times.end = training.start;
}

Line Crew::line(const Physics& physics, const Errand& errand) const {
  const collective::Layout& layout = training_.arrangement.layout;
  const int from = layout.host(errand.from);
  const int to = layout.host(errand.to);
  return from == to ? Line{} : physics.line(from, to);
}

StepTimes& Crew::times_of(std::int64_t step) {
  std::shared_ptr<StepTimes>& times = times_[static_cast<std::size_t>(step)];
  if (!times) {
    times = std::make_shared<StepTimes>();
    times->begin.resize(ranks_.size());
    times->end.resize(ranks_.size());
    times->exchange_begin.resize(ranks_.size());
    times->exchange_end.resize(ranks_.size());
  }
  return *times;
}

std::int64_t Crew::exchange_of(const Rank& rank) const {
  return rank.step * static_cast<std::int64_t>(training_.buckets.size()) +
         static_cast<std::int64_t>(rank.bucket);
}

void Crew::begin() {
  for (int rank = 0; rank < training_.ranks(); ++rank) {
    if (begin_step(rank, training_.start)) proceed(rank, training_.start);
  }
}

/// False: it was the last one before.
bool Crew::begin_step(int number, Duration now) {
  Rank& rank = ranks_[at(number)];
  if (rank.step == static_cast<std::int64_t>(times_.size())) return false;
  rank.clock.begin_step(now.count());
  rank.bucket = 0;
  rank.exchange_begin = Duration::max();
  rank.exchange_end = Duration::min();
  times_of(rank.step).begin[at(number)] = now;
  return true;
}

/// Otherwise it is woken.
bool Crew::is_computed(int number, Duration now) {
  Rank& rank = ranks_[at(number)];
  if (training_.is_server(number)) return true;
  const Duration at_time = computed(training_, rank.clock, rank.bucket);
  if (at_time <= now) return true;
  if (!std::exchange(rank.waits, true)) asks_.wake(number, at_time);
  return false;
}

void Crew::woke(int rank, Duration now) {
  ranks_[at(rank)].waits = false;
  proceed(rank, now);
}

/// From bucket to bucket and step to step, as far as it goes without time passing.
void Crew::proceed(int number, Duration now) {
  Rank& rank = ranks_[at(number)];
  while (rank.unfinished == 0) {
    if (!is_computed(number, now)) return;
    if (rank.bucket >= training_.buckets.size()) {
      end_step(number, now);
      if (!begin_step(number, now)) return;
      continue;
    }
    if (training_.buckets[rank.bucket].elements > 0) begin_exchange(number, now);
    if (rank.unfinished == 0) ++rank.bucket;
  }
}

void Crew::end_step(int number, Duration now) {
  Rank& rank = ranks_[at(number)];
  StepTimes& times = times_of(rank.step);
  times.end[at(number)] = now;
  times.exchange_begin[at(number)] = rank.exchange_begin;
  times.exchange_end[at(number)] = rank.exchange_end;
  answer_.times.end = std::max(answer_.times.end, now);
  ++rank.step;
}

void Crew::begin_exchange(int number, Duration now) {
  Rank& rank = ranks_[at(number)];
  const std::span<const Task> tasks = tasks_.of_rank(number);
  const std::size_t first = tasks_.first(number);
  rank.unfinished = tasks.size();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    // A receive also waits for what it receives, a send for the begin.
    pending_[first + i] = static_cast<std::uint16_t>(tasks[i].waits + 1);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].sends == 1) end_wait(number, i, now);
  }
  const std::int64_t exchange = exchange_of(rank);
  const std::vector<Early> early = std::exchange(rank.early, {});
  for (const Early& each : early) {
    if (each.exchange == exchange) {
      end_wait(number, each.task, now);
    } else {
      rank.early.push_back(each);
    }
  }
}

/// One of the things that a task waits for is there.
void Crew::end_wait(int number, std::size_t task, Duration now) {
  if (--pending_[tasks_.first(number) + task] > 0) return;
  const Task& ready = tasks_.of_rank(number)[task];
  if (ready.sends == 0) return finish(number, task, now);
  Rank& rank = ranks_[at(number)];
  const std::int64_t elements = training_.buckets[rank.bucket].elements;
  const std::int64_t bytes =
      workload::kElementBytes *
      (collective::chunk_begin(elements, chunks_, ready.chunk + ready.width) -
       collective::chunk_begin(elements, chunks_, ready.chunk));
  rank.note(now);
  ++answer_.messages;
  answer_.sent_bytes[at(number)] += bytes;
  asks_.send({.from = number,
              .to = ready.peer,
              .round = ready.round,
              .chunk = ready.chunk,
              .task = static_cast<std::uint16_t>(task),
              .exchange = exchange_of(rank),
              .bytes = bytes});
}

void Crew::finish(int number, std::size_t task, Duration now) {
  Rank& rank = ranks_[at(number)];
  rank.note(now);
  --rank.unfinished;
  for (const std::uint16_t behind : tasks_.behind(tasks_.of_rank(number)[task]))
    end_wait(number, behind, now);
}

void Crew::left(const Errand& errand, Duration now) {
  finish(errand.from, errand.task, now);
  Rank& rank = ranks_[at(errand.from)];
  if (rank.unfinished > 0) return;
  ++rank.bucket;
  proceed(errand.from, now);
}

void Crew::came(const Errand& errand, Duration now) {
  Rank& rank = ranks_[at(errand.to)];
  const std::size_t task = tasks_.receive_of(
      errand.to, {.round = errand.round, .peer = errand.from, .chunk = errand.chunk}, errand.task);
  if (rank.unfinished == 0 || exchange_of(rank) != errand.exchange) {
    rank.early.push_back({.exchange = errand.exchange, .task = static_cast<std::uint16_t>(task)});
    return;
  }
  end_wait(errand.to, task, now);
  if (rank.unfinished > 0) return;
  ++rank.bucket;
  proceed(errand.to, now);
}

JobAnswer Crew::answer() && {
  for (std::size_t i = 0; i < times_.size(); ++i) {
    answer_.times.steps.push_back(
        {.step = static_cast<std::int64_t>(i) - training_.warmup, .times = std::move(times_[i])});
  }
  return std::move(answer_);
}

}  // namespace tw::regular
