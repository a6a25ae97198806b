// SPDX-License-Identifier: Apache-2.0
// What the ends of a group know beforehand, and what they count.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/multicast/datagram.h"
#include "trainwire/os/file_descriptor.h"

#include <cstdint>
#include <string>

namespace tw::multicast {

struct Options {
  std::string address = {};                            ///< own
  std::uint64_t secret = 0;                            ///< of the run: groups' tags follow from it
  int job = 0;                                         ///< tells groups of several jobs apart
  int payload_bytes = 1448;                            ///< of a datagram
  int window = 64;                                     ///< packets on their way
  int ahead = 32;                                      ///< of these, in the host's own queue
  Duration round_trip = std::chrono::milliseconds(1);  ///< without any waiting
};

/// A rank's place in a group.
struct Seat {
  int group = 0;     ///< its number
  int members = 0;   ///< that receive
  int place = kHub;  ///< 0..members-1
  os::FileDescriptor stream = {};
  static constexpr int kHub = -1;
};

/// Of one seat.
struct Count {
  std::int64_t datagram_bytes = 0;  ///< sent, with their headers; of a member: answers
  std::int64_t packets = 0;         ///< of data, sent for the first time
  std::int64_t resent = 0;
};

Tag tag_of(const Options& options, int group);

}  // namespace tw::multicast
