// SPDX-License-Identifier: Apache-2.0
// Acknowledgements: what they say was delivered, what that says of losses, and what it does to the
// window.
#include "trainwire/netsim/sender.h"

#include <algorithm>

namespace tw::netsim {

void Sender::acknowledged(const Packet& ack, Time now) {
  if (ack.segment < out_.first()) return;  // an old one
  AckNews news{.now = now, .in_flight_before = out_.in_flight()};
  const bool advanced = ack.segment > out_.first();
  const std::int64_t before_bytes = acknowledged_;
  while (out_.first() < ack.segment) {
    if (!out_[out_.first()].sacked) deliver(out_.first(), now, news);
    acknowledged_ = out_[out_.first()].end_byte;
    out_.drop_first();
  }
  offer_more(acknowledged_ - before_bytes);
  take_sacks(ack, now, news);
  if (news.rtt >= 0) rtt_.take(news.rtt);
  if (advanced) backoff_ = 0;
  if (delivered_ > app_limited_until_) app_limited_until_ = 0;
  if (probe_end_ >= 0) take_probe_ack(ack);
  if (options_.reordered && ack.duplicate) hear_duplicate();

  const Timer before = timer_;
  alert(ack, news, now);
  const bool waits_for_order = timer_ == Timer::Reordering && before != Timer::Reordering;
  if (advanced && !waits_for_order) arm_probe_or_timeout(now);
  if (out_.empty()) disarm();

  news.smoothed_rtt = rtt_.smoothed();
  news.least_rtt = rtt_.least();
  news.in_flight = out_.in_flight();
  news.first_unacknowledged = out_.first();
  news.next = out_.next();
  news.pace = pace_per_second();
  news.window_limited =
      window_limited_ || (window_.is_slow_start() && window_.segments < 2 * most_out_);
  news.marked = ack.echoes_mark;
  news.state = state_;
  news.total_delivered = delivered_;
  news.step_share = step_share();
  congestion_->hear(news, window_);
  control(news, advanced);
  push(now);
}

double Sender::step_share() const {
  if (step_bytes_ <= 0) return -1;
  const auto gone = static_cast<double>(acknowledged_ - step_begin_);
  return std::clamp(gone / static_cast<double>(step_bytes_), 0.0, 1.0);
}

/// A segment is known to have arrived.
void Sender::deliver(std::int64_t number, Time now, AckNews& news) {
  const SentSegment& segment = out_[number];
  ++delivered_;
  delivered_at_ = now;
  ++news.delivered;
  const Time took = now - segment.sent;
  if (!segment.resent) {
    news.rtt = took;
    if (number < highest_delivered_) reordered_ = true;
  }
  highest_delivered_ = std::max(highest_delivered_, number);
  const bool is_newest =
      segment.sent > newest_sent_ || (segment.sent == newest_sent_ && number > newest_number_);
  // An acknowledgement that comes too soon after a segment was sent again is for the first time.
  if (is_newest && !(segment.resent && took < rtt_.least())) {
    newest_sent_ = segment.sent;
    newest_number_ = number;
    newest_rtt_ = took;
  }
  if (news.prior_delivered < 0 || segment.delivered >= news.prior_delivered) {
    news.prior_delivered = segment.delivered;
    news.app_limited = segment.app_limited;
    first_sent_ = segment.sent;
    news.interval = std::max(segment.sent - segment.first_sent, now - segment.delivered_at);
  }
}

/// Ranges are told again and again: what is known of one is not looked at anew.
void Sender::take_sacks(const Packet& ack, Time now, AckNews& news) {
  for (const Sack& sack : ack.sacks) {
    if (sack.end == 0) break;
    Range range{.begin = ack.segment + sack.begin, .end = ack.segment + sack.end};
    range.begin = std::max(range.begin, out_.first());
    range.end = std::min(range.end, out_.next());
    const auto known = std::find_if(known_sacks_.begin(), known_sacks_.end(), [&](const Range& k) {
      return k.begin <= range.begin && k.end > range.begin;
    });
    std::int64_t from = range.begin;
    if (known != known_sacks_.end()) {
      from = std::max(from, known->end);
      known->end = std::max(known->end, range.end);
    } else {
      known_sacks_[next_known_++ % known_sacks_.size()] = range;
    }
    for (std::int64_t i = from; i < range.end; ++i) {
      if (out_[i].sacked) continue;
      deliver(i, now, news);
      out_.mark_sacked(i);
    }
  }
}

void Sender::alert(const Packet& ack, AckNews& news, Time now) {
  leave_state();
  if (out_.sacked() > 0 || out_.lost() > 0) news.lost = find_losses(now);
  if (state_ == State::Recovery || state_ == State::Loss) return;
  if (out_.lost() > 0) {
    enter_recovery();
  } else if (state_ != State::Reduced) {
    if (ack.echoes_mark) {
      enter_reduced();
    } else {
      state_ = out_.sacked() > 0 ? State::Disorder : State::Open;
    }
  }
}

/// What was sent when the trouble began has been repaired.
void Sender::leave_state() {
  if (state_ == State::Open || state_ == State::Disorder) return;
  if (out_.first() < recovery_end_) return;
  // The receiver has to be told of the reduction before the next one.
  if (state_ == State::Reduced && out_.first() == recovery_end_) return;
  if (state_ != State::Loss) end_reduction();
  if (state_ == State::Recovery && patient_for_ > 0 && --patient_for_ == 0) patience_ = 1;
  state_ = State::Open;
  undo();
}

void Sender::control(AckNews& news, bool advanced) {
  if (congestion_->owns_window()) return;
  if (state_ == State::Reduced || state_ == State::Recovery) {
    reduce(news, advanced);
  } else if (advanced) {
    congestion_->grow(news, window_);
  }
}

}  // namespace tw::netsim
