// SPDX-License-Identifier: Apache-2.0
// Losses: found by time, repaired while the window shrinks, or after a time-out.
#include "trainwire/netsim/sender.h"

#include <algorithm>
#include <utility>

namespace tw::netsim {
namespace {

constexpr int kEnoughSacked = 3;
constexpr int kMostPatience = 255;
constexpr int kPatientFor = 16;
constexpr Time kSlack = 2 * kMillisecond;         ///< Linux: TCP_TIMEOUT_MIN
constexpr Time kDelayedAck = 200 * kMillisecond;  ///< a probe waits so much longer for the last one
constexpr Time kLongest = 120'000 * kMillisecond;  ///< time-out, backed off

}  // namespace

/// How much later than its successors a segment may come.
Time Sender::reordering_window() const {
  if (!reordered_ && (state_ >= State::Recovery || out_.sacked() >= kEnoughSacked)) return 0;
  if (rtt_.least() == kNever) return 0;
  return std::min(patience_ * (rtt_.least() / 4), rtt_.smoothed());
}

/// Something that was sent again had come. A round trip's worth of such is one reason to wait longer.
void Sender::hear_duplicate() {
  if (delivered_ - patient_since_ >= out_.count()) {
    patience_ = std::min(patience_ + 1, kMostPatience);
    patient_for_ = kPatientFor;
    patient_since_ = delivered_;
  }
  if (undo_.possible && undo_.resent > 0 && --undo_.resent == 0) undo_.proven = true;
  if (state_ <= State::Disorder) undo();
}

/// Where all that was sent again had come, nothing was lost.
void Sender::undo() {
  if (!undo_.proven || congestion_->owns_window()) return;
  ++counts_.undone;
  window_.segments = std::max(window_.segments, undo_.segments);
  window_.threshold = std::max(window_.threshold, undo_.threshold);
  undo_ = {};
}

/// RACK: what was sent before a segment that has arrived, and should have arrived as well, is lost.
int Sender::find_losses(Time now) {
  int found = 0;
  Time wait = 0;
  const Time patience = newest_rtt_ + reordering_window();
  for (std::int64_t number = out_.oldest(); number >= 0;) {
    const SentSegment& segment = out_[number];
    const bool is_older =
        segment.sent < newest_sent_ || (segment.sent == newest_sent_ && number < newest_number_);
    if (!is_older) break;
    const std::int64_t newer = segment.newer;
    const Time left = patience - (now - segment.sent);
    if (left <= 0) {
      out_.mark_lost(number);
      resend_from_ = std::min(resend_from_, number);
      ++found;
    } else {
      wait = std::max(wait, left);
    }
    number = newer;
  }
  if (wait > 0) arm(Timer::Reordering, now, wait + kSlack);
  return found;
}

void Sender::begin_reduction(Congestion::Cause cause) {
  window_.before = window_.segments;
  reduction_delivered_ = reduction_sent_ = 0;
  window_.threshold = congestion_->threshold(window_, cause);
  tell_reduced_ = options_.marks;
  recovery_end_ = out_.next();
}

void Sender::enter_recovery() {
  ++counts_.recoveries;
  // A reduction that is under way is not followed by another.
  undo_ = {.segments = window_.segments, .threshold = window_.threshold, .possible = true};
  if (state_ != State::Reduced) begin_reduction(Congestion::Cause::Loss);
  recovery_end_ = out_.next();
  state_ = State::Recovery;
}

void Sender::enter_reduced() {
  begin_reduction(Congestion::Cause::Mark);
  state_ = State::Reduced;
}

void Sender::end_reduction() {
  if (!congestion_->owns_window()) window_.segments = window_.threshold;
}

/// PRR: for each segment delivered so many may be sent that the window ends at the threshold.
void Sender::reduce(const AckNews& news, bool advanced) {
  if (news.delivered == 0) return;
  reduction_delivered_ += news.delivered;
  const int room = window_.threshold - out_.in_flight();
  std::int64_t send = 0;
  if (room < 0) {
    const std::int64_t due = static_cast<std::int64_t>(window_.threshold) * reduction_delivered_;
    send = (due + window_.before - 1) / window_.before - reduction_sent_;
  } else {
    send = std::max(reduction_delivered_ - reduction_sent_, news.delivered);
    if (advanced && news.lost == 0) ++send;
    send = std::min<std::int64_t>(send, room);
  }
  send = std::max<std::int64_t>(send, reduction_sent_ > 0 ? 0 : 1);
  window_.segments = out_.in_flight() + static_cast<int>(send);
}

void Sender::woken(Time now) {
  if (room_at_ <= now || written_next_ <= now) {
    room_at_ = written_next_ = kNever;
    push(now);
  }
  if (timer_at_ > now) return;
  switch (std::exchange(timer_, Timer::None)) {
    case Timer::None:
      timer_at_ = kNever;
      break;
    case Timer::Timeout:
      time_out(now);
      break;
    case Timer::Probe:
      probe(now);
      break;
    case Timer::Reordering:
      timer_ = Timer::Reordering;  // the time-out counts from when the first segment was sent
      timer_at_ = kNever;
      find_losses(now);
      if (out_.lost() > 0 && state_ < State::Recovery) enter_recovery();
      push(now);
      if (timer_at_ == kNever) arm_timeout(now);
      break;
  }
}

void Sender::time_out(Time now) {
  disarm();
  if (out_.empty()) return;
  ++counts_.timeouts;
  const Time patience = newest_rtt_ + reordering_window();
  for (std::int64_t i = out_.first(); i < out_.next(); ++i) {
    // What was sent a moment ago may still arrive.
    if (out_[i].sacked || (i != out_.first() && now - out_[i].sent < patience)) continue;
    out_.mark_lost(i);
  }
  if (state_ < State::Reduced || out_.first() >= recovery_end_ ||
      (state_ == State::Loss && backoff_ == 0)) {
    window_.before = window_.segments;
    window_.threshold = congestion_->threshold(window_, Congestion::Cause::Loss);
  }
  congestion_->timed_out(window_);
  undo_ = {};
  window_.segments = out_.in_flight() + 1;
  window_.counted = 0;
  state_ = State::Loss;
  recovery_end_ = out_.next();
  resend_from_ = out_.first();
  probe_end_ = -1;
  ++backoff_;
  arm_timeout(now);
  push(now);
}

/// TLP: the last segment once more, or a new one, so that the receiver has something to answer.
void Sender::probe(Time now) {
  disarm();
  const bool still_here = !queued_.empty() && queued_[queued_.end() - 1].leaves > now;
  if (out_.empty() || probe_end_ >= 0 || still_here) {
    arm_timeout(now);
    return;
  }
  ++counts_.probes;
  ++train_;
  probe_is_old_ = unsent() == 0 || out_.count() >= window_limit_;
  if (probe_is_old_) {
    const std::int64_t last = out_.next() - 1;
    if (!out_[last].sacked) {
      ++counts_.resent;
      out_.resend(last, now);
      emit(last, now);
    }
  } else {
    send_segment(now);
  }
  probe_end_ = out_.next();
  arm_timeout(now);
}

void Sender::take_probe_ack(const Packet& ack) {
  if (ack.segment < probe_end_) return;
  const bool is_told = !probe_is_old_ || ack.duplicate;
  // Whether the segment or the probe has arrived, the next acknowledgement tells.
  if (!is_told && ack.segment == probe_end_) return;
  probe_end_ = -1;
  if (is_told || state_ == State::Recovery || state_ == State::Loss) return;
  // The probe has repaired a loss: the window shrinks as for any other.
  begin_reduction(Congestion::Cause::Loss);
  end_reduction();
  state_ = State::Open;
}

/// Timers come with the kernel's ticks, so many of them later that the wait fits in.
void Sender::arm(Timer timer, Time now, Time wait) {
  const Time tick = time_of(options_.tick);
  timer_ = timer;
  timer_at_ = tick == 0 ? now + wait : (now / tick + (wait + tick - 1) / tick) * tick;
}

void Sender::arm_timeout(Time now) {
  if (out_.empty()) {
    disarm();
    return;
  }
  const Time rto = std::min(kLongest, rtt_.rto() << std::min(backoff_, 10));
  // After a probe or a wait for order the time counts from when the first segment was sent.
  const bool waited = timer_ == Timer::Probe || timer_ == Timer::Reordering;
  const Time from = waited ? out_[out_.first()].sent : now;
  arm(Timer::Timeout, now, std::max(kMillisecond, from + rto - now));
}

void Sender::arm_probe_or_timeout(Time now) {
  if (out_.empty()) {
    disarm();
    return;
  }
  if (timer_ == Timer::Reordering && (out_.sacked() > 0 || out_.lost() > 0)) return;
  if ((state_ != State::Open && state_ != State::Reduced) || !rtt_.known() || backoff_ > 0 ||
      probe_end_ >= 0) {
    arm_timeout(now);
    return;
  }
  const Time patience = 2 * rtt_.smoothed() + (out_.count() == 1 ? kDelayedAck : kSlack);
  arm(Timer::Probe, now, std::min(patience, rtt_.rto()));
}

}  // namespace tw::netsim
