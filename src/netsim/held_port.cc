// SPDX-License-Identifier: Apache-2.0
// What a port does that holds packets back.
#include "trainwire/netsim/port.h"

#include <algorithm>
#include <utility>

namespace tw::netsim {

void Port::hold() {
  if (!lanes_) lanes_.emplace();
}

void Port::admit(int priority) {
  if (priority_.value_or(priority) != priority) hold();
  priority_ = priority;
}

bool Port::accept(const Held& held, bool has_room, Time now) {
  Held kept = held;
  const rdma::Lane lane = held.packet.lane();
  const double waiting = lanes_->bytes(lane, held.priority);
  const bool fits = has_room || !settings_.queue_bytes ||
                    waiting + held.packet.frame_bytes <= *settings_.queue_bytes;
  if (ps_per_byte_ == 0 || !fits) {
    ++counts_.dropped;
    return false;
  }
  counts_.deepest_bytes = std::max(counts_.deepest_bytes, waiting_bytes(now) + lanes_->bytes());
  if (judges(held.packet, waiting, now)) {
    if (lane == rdma::Lane::Shared && settings_.marking->drops) {
      ++counts_.dropped;
      return false;
    }
    kept.packet.marked = true;
    ++counts_.marked;
  }
  lanes_->push(kept, lane, kept.packet.frame_bytes, held.priority);
  return true;
}

Time Port::start(Time now) {
  if (on_line_ || ps_per_byte_ == 0) return kNever;
  on_line_ = lanes_->take();
  if (!on_line_) return kNever;
  transmit(on_line_->packet, now);
  return line_free_;
}

Held Port::finish() {
  const Held left = *on_line_;
  on_line_.reset();
  return left;
}

void Port::pause(bool paused, Time now) {
  if (!lanes_ || lanes_->paused() == paused) return;
  lanes_->pause(paused);
  if (paused) {
    paused_since_ = now;
  } else {
    counts_.paused += now - paused_since_;
  }
}

Time Port::drained(Time now, int priority) const {
  return std::max(line_free_, now) + static_cast<Time>(lanes_->bytes_from(priority) * ps_per_byte_);
}

}  // namespace tw::netsim
