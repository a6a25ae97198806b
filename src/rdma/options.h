// SPDX-License-Identifier: Apache-2.0
// How both ends of an RDMA queue pair behave (RoCE v2, reliable connection): what a card does with
// its defaults unless told otherwise.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/rdma/dcqcn.h"

#include <chrono>
#include <optional>

namespace tw::rdma {

/// What a card does about packets that are missing.
enum class Repair {
  GoBackN,  ///< throws away what comes behind a gap, and has all of it sent again (ConnectX-4, -5)
  Selective,  ///< keeps it, and has what is missing sent again (ConnectX-6 and later)
};

struct Options {
  BitRate line = {};  ///< of the sender's own link: a queue pair starts at this rate
  int payload_bytes = 1024;
  int header_bytes = 58;  ///< of a frame: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4
  Repair repair = Repair::Selective;
  /// 4.096 us x 2^14, which cards are set to.
  Duration timeout = std::chrono::nanoseconds(67'108'864);
  /// A receiver that goes back asks again for the same packet no sooner.
  Duration nak_gap = std::chrono::microseconds(500);
  int ack_every = 16;                     ///< packets, and at the end of what there is to send
  std::optional<DcqcnOptions> rate = {};  ///< none: at the line's rate, whatever happens
  int priority = 0;
  /// Packets take several ways: one that was sent longer before another that came is lost.
  Duration reordering = {};
};

}  // namespace tw::rdma
