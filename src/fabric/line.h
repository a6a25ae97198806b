// SPDX-License-Identifier: Apache-2.0
// A line of finite rate as a virtual clock: nothing is stored but the time at which the line will
// be free, and what waits for it follows from that.

#pragma once

#include "trainwire/base/units.h"

namespace tw::fabric {

/// Times are nanoseconds from a begin that the user chooses not too long ago: doubles, because one
/// frame of 1514 bytes takes 121.12 ns at 100 Gbit/s and the fraction must not get lost.
class Line {
 public:
  /// REQUIRES: rate > 0.
  explicit Line(BitRate rate);

  /// Bytes that at that time wait for the line or are on it.
  double backlog_bytes(double at_ns) const;
  /// Puts `bytes` behind what waits; returns the time at which the last of them has left.
  double send(double at_ns, double bytes);
  /// Forgets what would wait longer than `bytes` take.
  void forget_beyond(double at_ns, double bytes);
  /// What waits is sent at the new rate. REQUIRES: rate > 0.
  void set_rate(BitRate rate, double at_ns);

 private:
  double ns_per_byte_;
  double free_ns_ = 0;
};

}  // namespace tw::fabric
