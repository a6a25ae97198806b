// SPDX-License-Identifier: Apache-2.0
// How packets of a group are sent (group.h): their sizes, and how many may be on their way.

#pragma once

#include "trainwire/base/units.h"

namespace tw::group {

struct Options {
  /// Members' packets are summed on their way to the hub; otherwise the hub's are multicast.
  bool sums = false;
  int priority = 0;
  int payload_bytes = 1448;
  int header_bytes = 66;  ///< of a frame, beside its payload; an acknowledgement is no more
  /// Packets that a sender may have on their way, as it has slots of switches or credits for.
  int slots = 512;
  /// Packets that the path holds without dropping any, where one packet comes for each that is sent.
  int room = 512;
  Duration round_trip = {};                         ///< without any waiting
  Duration in_host = std::chrono::milliseconds(1);  ///< of its line that a sender keeps busy ahead
};

}  // namespace tw::group
