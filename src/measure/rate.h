// SPDX-License-Identifier: Apache-2.0
// What a line really carries: datagrams are offered at 1.2 times the expected rate, so that the
// queue in front of the line is never empty, and the arrivals are counted.
//
// A token bucket lets its burst through at once; that part is left out. When this machine kept us
// from sending for so long that the queue ran dry, counting starts again, for up to three times the
// duration. Rates are in frame bits: payload, UDP, IP and 14 bytes of Ethernet, as plans and tbf
// count them.
//
// Limits: 100 kbit/s to some Gbit/s. A line faster than 1.2 times what was expected reads as 1.2
// times. Where packets are lost at random, behind the line's queue, the share must be given.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/measure/socket.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tw::measure {

/// What is handed to the kernel at once. Super-frames cost a tenth and are right wherever the path
/// cuts them before it treats packets one by one: at the sender's interface when its offloads are
/// off, in a switch that knows them. Plain datagrams keep a line of 500 Mbit/s busy, not much more.
enum class Sends { SuperFrames, Datagrams };

struct RateOptions {
  BitRate expected;
  Sends sends = Sends::SuperFrames;
  std::optional<Duration> duration = {};  ///< of sending; nothing: what the rate needs
  Bytes burst = {};                       ///< the token bucket's depth, as far as known
  double loss = 0;                        ///< share of packets that is lost behind the queue
  Duration patience = std::chrono::milliseconds(200);  ///< for the last arrivals
};

struct MeasuredRate {
  BitRate carried = {};        ///< arrived / (1 - loss)
  BitRate arrived = {};        ///< 0 when too little arrived to tell
  std::uint64_t sent = 0;      ///< datagrams, more than the line can carry
  std::uint64_t received = 0;  ///< datagrams
  std::uint64_t overrun = 0;   ///< arrivals that found no room in the receiver: the rate is too low
  Duration window = {};        ///< from the first to the last arrival that counts
};

/// REQUIRES: expected > 0, 0 <= loss < 1. Throws SystemError when the sockets cannot be made or
/// nothing gets through.
MeasuredRate measure_rate(const PathEnd& from, const PathEnd& to, const RateOptions& options);

/// 0.3 s of a fast line, up to 2 s of one that needs longer for a thousand packets, and the line
/// time of the burst that is left out.
Duration rate_duration(BitRate expected, Bytes burst);

/// One receive call's frames.
struct FrameArrival {
  std::int64_t time_ns;
  std::int64_t frame_bytes;
};
struct ArrivalRate {
  BitRate rate = {};
  Duration window = {};
};
/// Of what arrived after the first fifth of bytes and of time, and after `burst` bytes. Zero when
/// fewer than two arrivals are left. REQUIRES: in order of time.
ArrivalRate arrival_rate(std::span<const FrameArrival> arrivals, Bytes burst);

}  // namespace tw::measure
