// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/cursor.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tw::collective {
namespace {

constexpr int kEverybody = -1;

std::int64_t wrapped(std::int64_t value, std::int64_t modulus) {
  const std::int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/// x with x * value = 1 modulo the modulus. REQUIRES: they have no common divisor.
std::int64_t inverse_of(std::int64_t value, std::int64_t modulus) {
  std::int64_t a = value, b = modulus, x = 1, y = 0;
  while (b != 0) {
    const std::int64_t q = a / b;
    a = std::exchange(b, a - q * b);
    x = std::exchange(y, x - q * y);
  }
  return wrapped(x, modulus);
}

}  // namespace

Cursor::Progression::Progression(std::int64_t first_value, std::int64_t value_step, int values)
    : first(wrapped(first_value, values)), modulus(values) {
  const std::int64_t step = wrapped(value_step, values);
  divisor = std::gcd(step, modulus);
  period = modulus / divisor;
  inverse = inverse_of(step / divisor, period);
}

std::int64_t Cursor::Progression::find(int value) const {
  const std::int64_t distance = wrapped(value - first, modulus);
  if (distance % divisor != 0) return -1;
  return distance / divisor * inverse % period;
}

Cursor::Cursor(const Schedule& schedule, int rank) : Cursor(schedule, rank, kEverybody) {}

Cursor::Cursor(const Schedule& schedule, int rank, int peer)
    : rank_(rank), ranks_(schedule.ranks), chunks_(schedule.chunks) {
  check(rank >= 0 && rank < ranks_, "a schedule has programs for its own ranks only");
  for (const Strand& strand : schedule.program(rank)) add(strand, peer);
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    heads_.push_back({.transfer = transfer_of(runs_[run], 0), .run = run, .next = 1});
  }
  std::make_heap(heads_.begin(), heads_.end(),
                 [this](const Head& a, const Head& b) { return later(a.transfer, b.transfer); });
}

/// The strand's transfers with the peer, or all of them.
void Cursor::add(const Strand& strand, int peer) {
  if (strand.count == 0) return;
  if (peer == kEverybody) return add_in_order(strand, 0, 1, strand.count);
  const bool sends = strand.from == rank_ && strand.from_stride == 0;
  const Progression peers(sends ? strand.to : strand.from,
                          sends ? strand.to_stride : strand.from_stride, ranks_);
  const std::int64_t first = peers.find(peer);
  if (first < 0 || first >= strand.count) return;
  add_in_order(strand, first, peers.period, (strand.count - 1 - first) / peers.period + 1);
}

/// Cuts them where their order turns: rounds that fall are taken from their end; within one round
/// peers, or chunks of one peer, rise until they wrap around.
void Cursor::add_in_order(const Strand& strand, std::int64_t first, std::int64_t step,
                          std::int64_t count) {
  const auto reversed = [&](std::int64_t from, std::int64_t n) {
    add_run(strand, from + (n - 1) * step, -step, n);
  };
  if (strand.round_stride * step < 0) return reversed(first, count);
  if (strand.round_stride != 0 || count == 1) return add_run(strand, first, step, count);
  const bool by_chunk = strand.from_stride % ranks_ == 0 && strand.to_stride % ranks_ == 0;
  const std::int64_t modulus = by_chunk ? chunks_ : ranks_;
  const std::int64_t start =
      by_chunk ? strand.chunk : (strand.from_stride == 0 ? strand.to : strand.from);
  const std::int64_t stride =
      by_chunk ? strand.chunk_stride : strand.from_stride + strand.to_stride;
  std::int64_t rise = wrapped(stride * step, modulus);
  if (2 * rise > modulus) rise -= modulus;
  while (count > 0) {
    const std::int64_t value = wrapped(start + first * stride, modulus);
    std::int64_t n = count;
    if (rise > 0) n = std::min(n, (modulus - 1 - value) / rise + 1);
    if (rise < 0) n = std::min(n, value / -rise + 1);
    rise < 0 ? reversed(first, n) : add_run(strand, first, step, n);
    first += n * step;
    count -= n;
  }
}

void Cursor::add_run(const Strand& strand, std::int64_t first, std::int64_t step,
                     std::int64_t count) {
  runs_.push_back({.strand = strand,
                   .sends = strand.from == rank_ && strand.from_stride == 0,
                   .first = first,
                   .step = step,
                   .count = count,
                   .chunks = {strand.chunk + first * strand.chunk_stride,
                              strand.chunk_stride * step, chunks_}});
}

Transfer Cursor::transfer_of(const Run& run, std::int64_t k) const {
  const Strand& s = run.strand;
  const std::int64_t i = run.first + k * run.step;
  return {.round = s.round + i * s.round_stride,
          .from = static_cast<int>(wrapped(s.from + i * s.from_stride, ranks_)),
          .to = static_cast<int>(wrapped(s.to + i * s.to_stride, ranks_)),
          .chunk = static_cast<int>(wrapped(s.chunk + i * s.chunk_stride, chunks_)),
          .width = s.width,
          .combine = s.combine};
}

bool Cursor::later(const Transfer& a, const Transfer& b) const {
  const auto place = [this](const Transfer& t) {
    const bool receives = t.from != rank_;
    return std::tuple(t.round, receives, receives ? t.from : t.to, t.chunk);
  };
  return place(a) > place(b);
}

void Cursor::advance() {
  const auto order = [this](const Head& a, const Head& b) { return later(a.transfer, b.transfer); };
  std::pop_heap(heads_.begin(), heads_.end(), order);
  Head& head = heads_.back();
  const Run& run = runs_[head.run];
  if (head.next == run.count) return heads_.pop_back();
  head.transfer = transfer_of(run, head.next++);
  std::push_heap(heads_.begin(), heads_.end(), order);
}

std::size_t Cursor::memory_bytes() const {
  return sizeof *this + runs_.capacity() * sizeof(Run) + heads_.capacity() * sizeof(Head) +
         waits_.capacity() * sizeof(Wait);
}

std::span<const Wait> Cursor::waits() {
  const Transfer& t = transfer();
  const bool same = waiting_.width > 0 && t.round == waiting_.round && t.chunk == waiting_.chunk &&
                    t.width == waiting_.width && sends() == (waiting_.from == rank_);
  if (same) return waits_;
  waiting_ = t;
  waits_.clear();
  t.width == 1 ? wait_for_chunk() : wait_for_range();
  std::sort(waits_.begin(), waits_.end());
  waits_.erase(std::unique(waits_.begin(), waits_.end()), waits_.end());
  return waits_;
}

/// How many of the run's transfers lie in rounds before that of the present one.
std::int64_t Cursor::earlier(const Run& run) const {
  const std::int64_t begin = run.strand.round + run.first * run.strand.round_stride;
  const std::int64_t step = run.strand.round_stride * run.step;
  if (begin >= transfer().round) return 0;
  return step == 0 ? run.count : std::min(run.count, (transfer().round - 1 - begin) / step + 1);
}

/// The last of the run's transfers before number `end` that shares chunks with the present one; -1
/// when there is none.
std::int64_t Cursor::last_sharing(const Run& run, std::int64_t end) const {
  const Transfer& t = transfer();
  if (t.width == 1 && run.strand.width == 1) {
    const std::int64_t k = run.chunks.find(t.chunk);
    if (k < 0 || k >= end) return -1;
    return k + (end - 1 - k) / run.chunks.period * run.chunks.period;
  }
  std::int64_t k = end - 1;
  for (; k >= 0; --k) {
    const int chunk = transfer_of(run, k).chunk;
    if (chunk < t.chunk + t.width && t.chunk < chunk + run.strand.width) break;
  }
  return k;
}

void Cursor::wait_for_chunk() {
  std::int64_t written = -1;
  for (const Run& run : runs_) {
    if (run.sends) continue;
    const std::int64_t k = last_sharing(run, earlier(run));
    if (k >= 0) written = std::max(written, transfer_of(run, k).round);
  }
  if (written >= 0) waits_.push_back({.round = written, .sends = false});
  if (!sends()) wait_for_reads(written);
}

void Cursor::wait_for_reads(std::int64_t since) {
  for (const Run& run : runs_) {
    if (!run.sends) continue;
    for (std::int64_t k = last_sharing(run, earlier(run)); k >= 0; k = last_sharing(run, k)) {
      const std::int64_t round = transfer_of(run, k).round;
      if (round < since) break;
      waits_.push_back({.round = round, .sends = true});
      if (run.strand.round_stride == 0) break;
    }
  }
}

void Cursor::wait_for_range() {
  for (const Run& run : runs_) {
    if (run.sends && sends()) continue;
    for (std::int64_t k = last_sharing(run, earlier(run)); k >= 0; k = last_sharing(run, k)) {
      waits_.push_back({.round = transfer_of(run, k).round, .sends = run.sends});
    }
  }
}

}  // namespace tw::collective
