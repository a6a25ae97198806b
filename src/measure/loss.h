// SPDX-License-Identifier: Apache-2.0
// Which share of small, well-spaced packets a path loses in one direction.
//
// Limits: the rate must be far below the line's, or full queues are counted as loss too. Packets
// are sent a millisecond's worth at a time.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/measure/binomial.h"
#include "trainwire/measure/socket.h"

#include <cstddef>
#include <cstdint>

namespace tw::measure {

struct LossOptions {
  std::uint64_t packets = 20'000;
  double per_second = 20'000;
  /// How long stragglers are waited for after the last packet was sent.
  Duration patience = std::chrono::milliseconds(500);
};

struct MeasuredLoss {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;  ///< each number once

  std::uint64_t lost() const { return sent - received; }
  double share() const { return static_cast<double>(lost()) / static_cast<double>(sent); }
  /// Of the true share, at 99 %.
  ShareInterval interval() const { return binomial_interval(lost(), sent); }
};

/// Payload of one packet.
inline constexpr std::size_t kLossProbeBytes = 32;

/// REQUIRES: packets > 0, per_second > 0. Throws SystemError when the sockets cannot be made or
/// nothing gets through.
MeasuredLoss measure_loss(const PathEnd& from, const PathEnd& to, const LossOptions& options = {});

}  // namespace tw::measure
