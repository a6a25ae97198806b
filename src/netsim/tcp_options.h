// SPDX-License-Identifier: Apache-2.0
// How both ends of a TCP connection behave, with what Linux does unless told otherwise.

#pragma once

#include "trainwire/base/units.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace tw::netsim {

struct TcpOptions {
  std::string congestion_control = "cubic";
  int segment_bytes = 1448;
  int header_bytes = 66;  ///< of a frame, beside its payload
  int initial_window = 10;
  std::int64_t window_bytes = 6 << 20;         ///< that may be on their way at once
  std::int64_t send_buffer_bytes = 128 << 10;  ///< of memory, at first
  Duration least_rto = std::chrono::milliseconds(200);
  Duration delayed_ack = std::chrono::milliseconds(40);
  Duration tick = std::chrono::milliseconds(4);  ///< of the kernel's timers
  bool slow_start_after_idle = true;
  bool marks = false;  ///< ECN was agreed upon
  /// What a sender hands to its line at once, and a receiver takes from it: 1 without offloads.
  int train_segments = 1;
  double program_bytes_per_s =
      0;  ///< at which the program writes (base/pace.h); 0: as fast as it goes
  int priority = 0;
  /// Packets take several ways: what was taken for lost in error widens the wait for order, and what
  /// was reduced for it is undone.
  bool reordered = false;
};

}  // namespace tw::netsim
