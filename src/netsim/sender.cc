// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/sender.h"

#include <algorithm>
#include <utility>

namespace tw::netsim {
namespace {

/// What a sender may keep in its host's queue: this much of its rate, at most so many bytes. Linux
/// counts the memory of packets, which is a fifth more than their bytes.
constexpr double kQueuedSeconds = 1e-3 / 1.2;
constexpr double kMostQueued = 1 << 20;
constexpr double kMemoryPerByte = 1.2;

}  // namespace

Sender::Sender(const TcpOptions& options, int connection, Emit emit)
    : options_(options),
      connection_(connection),
      emit_(std::move(emit)),
      congestion_(make_congestion(options.congestion_control)),
      window_{.segments = options.initial_window},
      rtt_(time_of(options.least_rto)),
      window_limit_(static_cast<int>(
          std::max<std::int64_t>(2, options.window_bytes / options.segment_bytes))) {}

void Sender::write(std::int64_t bytes, Time now) {
  if (options_.program_bytes_per_s > 0 && !program_) {
    program_.emplace(options_.program_bytes_per_s, duration_of(now).count());
  }
  written_ += bytes;
  push(now);
}

/// What the program gives to the kernel: all that there is, or what its pace allows once the kernel
/// has taken what was before.
void Sender::hand_over(Time now) {
  if (handed_ == written_) return;
  std::int64_t bytes = written_ - handed_;
  if (program_) {
    if (taken_bytes() < handed_) return;
    const std::uint64_t allowed = program_->allowance(handed_, duration_of(now).count());
    bytes = std::min(bytes, static_cast<std::int64_t>(allowed));
    written_next_ = time_of(Duration(program_->next_ns()));
    if (bytes == 0) return;
  }
  if (out_.empty() && unsent() == 0) resume_after_pause(now);
  // As Linux does, when the program has something again: what is sent until all of this is there says
  // nothing of the path.
  forget_left(now);
  if (unsent() == 0 && queued_bytes_ == 0 && out_.in_flight() < window_.segments) {
    app_limited_until_ = std::max<std::int64_t>(1, delivered_ + out_.in_flight());
  }
  handed_ += bytes;
}

/// Linux halves the window for each time-out that has passed, down to the first one.
void Sender::resume_after_pause(Time now) {
  if (counts_.segments == 0) return;
  const Time pause = now - last_sent_;
  congestion_->resumed(pause);
  if (!options_.slow_start_after_idle || congestion_->owns_window() || pause <= rtt_.rto()) return;
  window_.threshold = std::max(window_.threshold, window_.segments - window_.segments / 4);
  const int least = std::min(options_.initial_window, window_.segments);
  for (Time left = pause - rtt_.rto(); left > 0 && window_.segments > least; left -= rtt_.rto()) {
    window_.segments /= 2;
  }
  window_.segments = std::max(window_.segments, least);
  window_stamp_ = now;
  used_ = 0;
}

/// Payload that the kernel takes from the program before it is acknowledged: what its buffer holds at
/// first, which hardly grows while the window is filled, or a window.
std::int64_t Sender::buffer_bytes() const {
  const auto first =
      static_cast<std::int64_t>(static_cast<double>(options_.send_buffer_bytes) / kMemoryPerByte);
  const std::int64_t window = static_cast<std::int64_t>(window_.segments) * options_.segment_bytes;
  return std::min(std::max(first, window), options_.window_bytes);
}

/// A receiver whose program reads again offers as much as its socket held, and twice that a round trip
/// later, as Linux has its buffer grow.
void Sender::bound(std::int64_t bytes, std::int64_t room, Time now) {
  const std::int64_t before = std::exchange(bound_, std::max(bytes, cut_));
  if (bound_ <= before) return;
  offered_ = bytes == kUnbounded ? room : 0;
  if (offered_ > 0) bound_ = std::max(cut_, acknowledged_ + offered_);
  if (unsent() > 0) push(now);
}

void Sender::offer_more(std::int64_t acknowledged_bytes) {
  if (offered_ == 0) return;
  offered_ += acknowledged_bytes;
  bound_ = acknowledged_ + offered_;
  if (offered_ < static_cast<std::int64_t>(window_.segments) * options_.segment_bytes) return;
  offered_ = 0;
  bound_ = kUnbounded;
}

void Sender::push(Time now) {
  hand_over(now);
  resend_lost(now);
  send_new(now);
}

void Sender::resend_lost(Time now) {
  while (out_.in_flight() < window_.segments) {
    const std::int64_t number = out_.next_to_resend(resend_from_);
    if (number < 0) return;
    if (!has_room(now)) return;
    resend_from_ = number + 1;
    ++counts_.resent;
    ++reduction_sent_;
    ++undo_.resent;
    ++train_;
    out_.resend(number, now);
    emit(number, now);
    if (number == out_.first() && timer_ != Timer::Reordering) arm_timeout(now);
  }
}

void Sender::send_new(Time now) {
  bool limited = false;
  bool sent = false;
  while (unsent() > 0) {
    const int quota = window_.segments - out_.in_flight();
    limited = quota <= 0;
    if (quota <= 0 || out_.count() >= window_limit_) break;
    const std::int64_t wanted = (unsent() + options_.segment_bytes - 1) / options_.segment_bytes;
    const int most = std::min({std::max(1, std::min(quota, window_.segments / 2)),
                               window_limit_ - out_.count(), train_limit()});
    const int segments = static_cast<int>(std::min<std::int64_t>(most, wanted));
    if (waits_for_more(segments, static_cast<int>(std::min<std::int64_t>(wanted, 1 << 30)), now)) {
      limited = true;
      break;
    }
    if (!has_room(now)) break;
    ++train_;
    for (int i = 0; i < segments; ++i) send_segment(now);
    sent = true;
  }
  if (sent || limited) use_window(limited, now);
  if (sent) arm_probe_or_timeout(now);
}

/// What has left the host's queue.
void Sender::forget_left(Time now) {
  while (!queued_.empty() && queued_.front().leaves <= now) {
    queued_bytes_ -= queued_.front().bytes;
    queued_.pop();
  }
}

/// A millisecond of the rate, between two segments and what a card takes.
int Sender::train_limit() const {
  if (options_.train_segments <= 2) return options_.train_segments;
  return std::clamp(static_cast<int>(pace_per_second() * 1e-3), 2, options_.train_segments);
}

/// Short trains wait for a longer one while an acknowledgement is about to come: within a millisecond,
/// or half a round trip, and no longer than a millisecond after something was sent (Linux's
/// tcp_tso_should_defer, since 6.18 and in the stable kernels of then).
bool Sender::waits_for_more(int segments, int wanted, Time now) const {
  if (segments >= std::min(wanted, train_limit()) || options_.train_segments <= 2) return false;
  if (state_ >= State::Recovery || out_.empty() || segments >= window_.segments / 3) return false;
  if (now - last_sent_ > kMillisecond) return false;
  const Time expected = out_[out_.first()].sent + rtt_.smoothed();
  return expected - now <= std::min(rtt_.smoothed() / 2, kMillisecond);
}

/// What the pace is, or somewhat more than the window gives.
double Sender::pace_per_second() const {
  if (congestion_->pace() > 0) return congestion_->pace();
  if (!rtt_.known()) return 1e3 * options_.initial_window;
  const double gain = window_.segments < window_.threshold / 2 ? 2 : 1.2;
  return gain * std::max(window_.segments, out_.count()) / seconds(rtt_.smoothed());
}

/// Whether the host's own queue takes more, and the pace allows it.
bool Sender::has_room(Time now) {
  forget_left(now);
  if (now < paced_until_) {
    room_at_ = paced_until_;
    return false;
  }
  const int frame = options_.segment_bytes + options_.header_bytes;
  const double limit = std::max(2.0 * frame * train_limit(),
                                std::min(kMostQueued, kQueuedSeconds * pace_per_second() * frame));
  if (static_cast<double>(queued_bytes_) <= limit) return true;
  // Half of it has to leave: the line stays busy, and wakes are few.
  std::int64_t left = queued_bytes_;
  std::int64_t i = queued_.begin();
  while (static_cast<double>(left) > limit / 2 && i + 1 < queued_.end()) left -= queued_[i++].bytes;
  room_at_ = queued_[i].leaves;
  return false;
}

void Sender::send_segment(Time now) {
  const auto bytes =
      static_cast<std::int32_t>(std::min<std::int64_t>(unsent(), options_.segment_bytes));
  cut_ += bytes;
  if (out_.empty()) first_sent_ = delivered_at_ = now;
  const std::int64_t number = out_.send({.sent = now, .end_byte = cut_, .bytes = bytes});
  ++counts_.segments;
  ++reduction_sent_;
  emit(number, now);
}

void Sender::emit(std::int64_t number, Time now) {
  SentSegment& segment = out_[number];
  segment.delivered = delivered_;
  segment.delivered_at = delivered_at_;
  segment.first_sent = first_sent_;
  segment.app_limited = app_limited_until_ > 0;
  const int frame = segment.bytes + options_.header_bytes;
  const Time leaves = emit_({.connection = connection_,
                             .frame_bytes = static_cast<std::uint16_t>(frame),
                             .can_be_marked = options_.marks,
                             .window_reduced = std::exchange(tell_reduced_, false),
                             .segment = number,
                             .payload_bytes = segment.bytes,
                             .train = train_,
                             .byte = segment.end_byte - segment.bytes},
                            now);
  last_sent_ = now;
  if (const double pace = congestion_->pace(); pace > 0) {
    paced_until_ = std::max(paced_until_, now) + time_of_seconds(1 / pace);
  }
  if (leaves == kNever) return;
  queued_.push({.leaves = leaves, .bytes = frame});
  queued_bytes_ += frame;
}

/// Remembers whether the window was what held the sender back; one that is not used for long
/// shrinks towards what is used.
void Sender::use_window(bool limited, Time now) {
  const int out = out_.count();
  if (out_.first() >= usage_end_ || limited || (!window_limited_ && out > most_out_)) {
    window_limited_ = limited;
    most_out_ = out;
    usage_end_ = out_.next();
  }
  if (limited || (window_.is_slow_start() && window_.segments < 2 * most_out_)) {
    used_ = 0;
    window_stamp_ = now;
    return;
  }
  used_ = std::max(used_, out);
  if (!options_.slow_start_after_idle || congestion_->owns_window()) return;
  if (now - window_stamp_ < rtt_.rto()) return;
  if (state_ == State::Open && unsent() == 0) {
    const int used = std::max(used_, options_.initial_window);
    if (used < window_.segments) {
      window_.threshold = std::max(window_.threshold, window_.segments - window_.segments / 4);
      window_.segments = (window_.segments + used) / 2;
    }
    used_ = 0;
  }
  window_stamp_ = now;
}

}  // namespace tw::netsim
