// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/port.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::fabric {
namespace {

/// More than the bucket of a host's device holds: two super-packets, or 2 ms of the rate.
double largest_burst_bytes(BitRate rate) {
  return std::max(131'072.0, rate.bits_per_second() / 8 * 2e-3);
}

void add(std::atomic<std::uint64_t>& counter, std::int64_t amount) {
  counter.fetch_add(static_cast<std::uint64_t>(amount), std::memory_order_relaxed);
}

/// This side alone raises it; a reset that falls between the two lines is made good by the next.
void raise(std::atomic<std::uint64_t>& most, double value) {
  const auto whole = static_cast<std::uint64_t>(value);
  if (whole > most.load(std::memory_order_relaxed)) {
    most.store(whole, std::memory_order_relaxed);
  }
}

}  // namespace

VirtualPort::VirtualPort(const network::Port& port, Queue queue, std::uint64_t seed,
                         PortCounters& counters, BufferPool& pool)
    : queue_(queue),
      rate_(port.rate),
      queue_bytes_(static_cast<double>(port.queue.count())),
      burst_bytes_(largest_burst_bytes(port.rate)),
      line_(port.rate),
      loss_(port, seed),
      delay_(port, seed),
      counters_(counters),
      pool_(pool) {
  if (port.ecn) mark_bytes_ = static_cast<double>(port.ecn->count());
}

/// A host's own line is the kernel's, and is told there.
void VirtualPort::obey(double at_ns) {
  const double rate_bps = counters_.orders.rate_bps.load(std::memory_order_relaxed);
  if (rate_bps == ordered_bps_ || queue_ == Queue::InKernel) return;
  ordered_bps_ = rate_bps;
  line_.set_rate(rate_bps > 0 ? BitRate(rate_bps) : rate_, at_ns);
}

void VirtualPort::arrive(Frame frame) {
  obey(static_cast<double>(frame.time_ns));
  judge(frame);
  const auto differ = [](const Judged& a, const Judged& b) { return a.fate != b.fate; };
  for (auto begin = judged_.begin(); begin != judged_.end();) {
    auto end = std::adjacent_find(begin, judged_.end(), differ);
    if (end != judged_.end()) ++end;
    if (begin->fate != Fate::Gone) {
      emit(frame, static_cast<int>(begin - judged_.begin()), static_cast<int>(end - begin));
    }
    begin = end;
  }
}

void VirtualPort::refuse(const Segments& segments) {
  add(counters_.packets, segments.count);
  add(counters_.bytes, segments.wire_bytes());
  add(counters_.dropped, segments.count);
  add(counters_.dropped_bytes, segments.wire_bytes());
}

Frame VirtualPort::leave() {
  Frame frame = std::move(leaving_.front());
  leaving_.pop_front();
  return frame;
}

/// Decides about each segment of a train. Only IP is lost at random: what is not IP (ARP) is no
/// part of any experiment, and a lost request would cost its sender a second.
void VirtualPort::judge(const Frame& frame) {
  const Segments& segments = frame.segments;
  const bool may_mark = mark_bytes_ && allows_marking(frame.packet.bytes());
  add(counters_.packets, segments.count);
  add(counters_.bytes, segments.wire_bytes());
  const double more_loss = counters_.orders.loss.load(std::memory_order_relaxed);
  std::int64_t lost = 0;
  judged_.clear();
  for (int i = 0; i < segments.count; ++i) {
    const double at_ns =
        static_cast<double>(frame.time_ns) - (segments.count - 1 - i) * frame.spacing_ns;
    judged_.push_back(pass_line(at_ns, segments.wire_bytes(i), may_mark));
    if (judged_.back().fate == Fate::Gone || !segments.is_ip || !loss_.loses_next(more_loss)) {
      continue;
    }
    judged_.back().fate = Fate::Gone;
    ++lost;
  }
  if (lost > 0) add(counters_.lost, lost);
}

VirtualPort::Judged VirtualPort::pass_line(double at_ns, int bytes, bool may_mark) {
  const Fate fate = queue_fate(at_ns, bytes, may_mark);
  if (fate == Fate::Gone) return {.fate = fate, .left_ns = at_ns};
  return {.fate = fate, .left_ns = line_.send(at_ns, bytes)};
}

VirtualPort::Fate VirtualPort::queue_fate(double at_ns, int bytes, bool may_mark) {
  if (queue_ == Queue::InKernel) {
    line_.forget_beyond(at_ns, burst_bytes_);
    return Fate::Kept;
  }
  const double waiting = line_.backlog_bytes(at_ns);
  if (waiting + bytes > queue_bytes_) {
    add(counters_.dropped, 1);
    add(counters_.dropped_bytes, bytes);
    return Fate::Gone;
  }
  raise(counters_.deepest, waiting);
  if (!may_mark || waiting < *mark_bytes_) return Fate::Kept;
  add(counters_.marked, 1);
  return Fate::Marked;
}

/// Sends a run of segments on: the frame itself when it is all of it, else a piece.
void VirtualPort::emit(Frame& frame, int first, int count) {
  if (count == frame.segments.count) {
    schedule(std::move(frame), first, count);
    return;
  }
  std::optional<Buffer> memory = pool_.take(cut_bytes(frame.segments, first, count));
  if (!memory) {
    add(counters_.dropped, count);
    return;
  }
  cut(frame.packet.bytes(), frame.segments, first, count, memory->bytes());
  const Segments segments = describe(memory->bytes());
  schedule({.packet = *std::move(memory), .segments = segments, .to = frame.to, .also = frame.also},
           first, count);
}

void VirtualPort::schedule(Frame frame, int first, int count) {
  const Judged& head = judged_[static_cast<std::size_t>(first)];
  const Judged& tail = judged_[static_cast<std::size_t>(first + count - 1)];
  if (head.fate == Fate::Marked) mark_congestion(frame.packet.bytes());
  frame.spacing_ns = count > 1 ? (tail.left_ns - head.left_ns) / (count - 1) : 0;
  frame.time_ns = delay_.due_ns(std::llround(tail.left_ns));
  leaving_.push_back(std::move(frame));
}

}  // namespace tw::fabric
