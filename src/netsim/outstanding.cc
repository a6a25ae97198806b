// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/outstanding.h"

#include <algorithm>
#include <utility>

namespace tw::netsim {

std::int64_t Outstanding::send(SentSegment segment) {
  segments_.push(segment);
  link_newest(next() - 1);
  return next() - 1;
}

void Outstanding::resend(std::int64_t number, Time now) {
  SentSegment& segment = segments_[number];
  if (segment.waits()) {
    --waiting_;
  } else {
    unlink(number);
  }
  segment.sent = now;
  segment.resent = true;
  if (!std::exchange(segment.resent_alive, true)) ++resent_;
  link_newest(number);
}

void Outstanding::mark_lost(std::int64_t number) {
  SentSegment& segment = segments_[number];
  if (segment.waits()) return;
  ++waiting_;
  unlink(number);
  if (!std::exchange(segment.lost, true)) ++lost_;
  if (std::exchange(segment.resent_alive, false)) --resent_;
}

void Outstanding::mark_sacked(std::int64_t number) {
  SentSegment& segment = segments_[number];
  if (segment.waits()) {
    --waiting_;
  } else {
    unlink(number);
  }
  segment.sacked = true;
  ++sacked_;
  if (std::exchange(segment.lost, false)) --lost_;
  if (std::exchange(segment.resent_alive, false)) --resent_;
}

void Outstanding::drop_first() {
  const SentSegment& segment = segments_[first()];
  if (segment.sacked) {
    --sacked_;
  } else if (segment.waits()) {
    --waiting_;
  } else {
    unlink(first());
  }
  if (segment.lost) --lost_;
  if (segment.resent_alive) --resent_;
  segments_.pop();
}

std::int64_t Outstanding::next_to_resend(std::int64_t number) const {
  if (waiting_ == 0) return -1;
  for (std::int64_t i = std::max(number, first()); i < next(); ++i) {
    if (segments_[i].waits()) return i;
  }
  return -1;
}

void Outstanding::link_newest(std::int64_t number) {
  SentSegment& segment = segments_[number];
  segment.older = newest_;
  segment.newer = -1;
  if (newest_ >= 0) segments_[newest_].newer = number;
  newest_ = number;
  if (oldest_ < 0) oldest_ = number;
}

void Outstanding::unlink(std::int64_t number) {
  const SentSegment& segment = segments_[number];
  if (segment.older >= 0) {
    segments_[segment.older].newer = segment.newer;
  } else if (oldest_ == number) {
    oldest_ = segment.newer;
  }
  if (segment.newer >= 0) {
    segments_[segment.newer].older = segment.older;
  } else if (newest_ == number) {
    newest_ = segment.older;
  }
}

}  // namespace tw::netsim
