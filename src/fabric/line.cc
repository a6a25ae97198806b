// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/line.h"

#include "trainwire/base/error.h"

#include <algorithm>

namespace tw::fabric {

Line::Line(BitRate rate) : ns_per_byte_(8e9 / rate.bits_per_second()) {
  check(rate.bits_per_second() > 0, "a line has a rate");
}

double Line::backlog_bytes(double at_ns) const {
  return std::max(0.0, (free_ns_ - at_ns) / ns_per_byte_);
}

double Line::send(double at_ns, double bytes) {
  free_ns_ = std::max(at_ns, free_ns_) + bytes * ns_per_byte_;
  return free_ns_;
}

void Line::set_rate(BitRate rate, double at_ns) {
  check(rate.bits_per_second() > 0, "a line has a rate");
  const double waiting = backlog_bytes(at_ns);
  ns_per_byte_ = 8e9 / rate.bits_per_second();
  if (waiting > 0) free_ns_ = at_ns + waiting * ns_per_byte_;
}

void Line::forget_beyond(double at_ns, double bytes) {
  free_ns_ = std::min(free_ns_, at_ns + bytes * ns_per_byte_);
}

}  // namespace tw::fabric
