// SPDX-License-Identifier: Apache-2.0
// What a network of fluids (flow_network.h) knows of a connection, of the messages that wait for it,
// and of what happens to them next.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/fluid/sharing.h"
#include "trainwire/fluid/tcp_stream.h"
#include "trainwire/medium/flow_paths.h"
#include "trainwire/medium/medium.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <tuple>
#include <vector>

namespace tw::medium {

inline constexpr double kGone = 1e-3;  ///< bytes that rounding leaves

/// What was lost of a message, so that what passes it on comes no further for a while.
struct FlowHole {
  double at = 0;  ///< bytes
  Duration filled = {};
};

struct FlowMessage {
  double bytes = 0;
  Tag tag = 0;
  bool is_passed_on = false;         ///< told of when its first bytes are there
  int behind = 0;                    ///< messages that it passes on and that have not come yet
  std::vector<FlowHole> holes = {};  ///< in those
  Duration repaired = {};            ///< when the last of what it lost is there
  bool lost_tail = false;  ///< what was lost last would be noticed sooner if more followed
};

/// A message whose lost tail has not been noticed, and its arrival as things are.
struct FlowTail {
  Tag tag = 0;
  std::uint64_t arrival = 0;
  Duration before = {};  ///< when what was sent before it is there
};

/// Its first message flows; the others wait.
struct FlowConnection {
  int from = 0;
  int to = 0;
  network::Flow flow = {};  ///< as switches see it
  FlowPath path = {};
  Manner manner = Manner::Stream;
  bool is_read_in_turn = false;
  std::int64_t sent = 0;  ///< messages
  std::int64_t read = 0;  ///< of those, or of those to come
  int group = -1;         ///< whose messages these are; -1: nobody's
  int priority = 0;
  std::optional<fluid::Stack> stack = {};  ///< another than the network's
  bool weighs_steps = false;               ///< MLTCP
  double step_begin = 0;                   ///< of `carried`
  double step_bytes = 0;                   ///< 0: not known
  /// Bytes of a stream without loss that take as much of a line: datagrams have shorter headers,
  /// RDMA smaller packets, some segments go twice. All bytes below are such bytes.
  double worth = 1;
  double pace = fluid::kNoCap;  ///< bytes a second
  double owed = 0;              ///< bytes that a stream is behind its pace; below 0: ahead
  bool uneven = false;
  double luck = 1;  ///< of its first message: times the share that is its due
  std::optional<fluid::TcpStream> stream = {};
  std::deque<FlowMessage> messages = {};
  std::size_t taken = 0;       ///< of those, the first: the kernel has them
  int share = -1;              ///< its number in sharing_; -1: nothing flows
  double cap = fluid::kNoCap;  ///< there
  double weight = 1;           ///< likewise
  double left = 0;             ///< bytes of the first message, at `since`
  Duration since = {};         ///< when its rate last changed
  double rate = 0;             ///< bytes a second that come
  double carried = 0;          ///< bytes that the path has, until `since`
  double payload = 0;          ///< of those, whatever they were worth then
  bool waits = false;          ///< all of the first message has gone that can have come
  bool pauses = false;         ///< what it passes on has a hole
  Duration arrived = {};       ///< when the last that has left is there
  std::optional<FlowTail> tail = {};
  std::uint64_t version = 0;

  /// Bytes a second that leave.
  double leaving() const { return manner == Manner::Datagrams ? pace : rate; }
};

struct FlowEnd {
  Duration at = {};
  int connection = 0;
  std::uint64_t version = 0;
  bool operator>(const FlowEnd& other) const {
    return std::tie(at, connection) > std::tie(other.at, other.connection);
  }
};

struct FlowArrival {
  Duration at = {};
  std::uint64_t number = 0;  ///< of equal times the first made comes first
  Tag tag = 0;
  bool begins = false;  ///< only its first bytes
  int connection = 0;
  bool operator>(const FlowArrival& other) const {
    return std::tie(at, number) > std::tie(other.at, other.number);
  }
};

/// Who passes on a message.
struct FlowFollower {
  int connection = 0;
  Tag tag = 0;
};

}  // namespace tw::medium
