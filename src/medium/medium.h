// SPDX-License-Identifier: Apache-2.0
// Where simulated messages travel: one network, at some level of detail (flow_network.h as fluids,
// packet_network.h packet by packet). Who uses it neither knows nor cares which.
//
//   connect, send     ->   a message waits behind those of its connection, leaves, comes
//   next              ->   when anything happens, if nobody sends before
//   advance(now)      ->   all that happens until then; `left` and `came` are called on the way
//
// Time is what the user says, and does not go back. What `left` and `came` send is sent at the time
// at which they were called.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/network/network.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::medium {

/// Chosen by who sends a message; another than those of messages that have not come yet.
using Tag = std::uint64_t;

/// What became of messages.
struct Told {
  /// Its last byte was sent, or is the kernel's to send.
  std::function<void(Tag tag, Duration now)> left;
  std::function<void(Tag tag, Duration now)> came;  ///< all of it is there, in order
  /// Of what is sent on: its first bytes are there. A medium that never tells has whole messages
  /// passed on.
  std::function<void(Tag tag, Duration now)> began = {};
};

enum class Manner {
  Stream,     ///< all of it comes, in order, and gives way to others
  Datagrams,  ///< sent whatever becomes of them: some may never come
  Rdma,       ///< like a stream, by cards instead of kernels: a queue pair
};

/// How a connection sends.
struct Sending {
  Manner manner = Manner::Stream;
  /// Payload leaves at this rate at most, datagrams at just this; nothing: as fast as it goes.
  std::optional<BitRate> pace = {};
  /// Which of several streams has more of a line changes from message to message, as it does where
  /// packets compete. Otherwise equal streams are alike, and who begins in step stays in step.
  bool uneven = false;
  int priority = 0;                     ///< strict, at every port; the higher goes first
  std::string congestion_control = {};  ///< of a stream; empty: the network's
  /// Of a stream: its receiver says of each message when it is read (reads()); until then his socket
  /// holds a part of it.
  bool is_read_in_turn = false;
  spec::RdmaRepair rdma_repair = {};
  spec::RdmaControl rdma_control = {};
  /// The connection that goes the other way between the same two ends: captures show both as one.
  std::optional<int> answers = {};
};

/// What a port has done so far. A fluid has no packets: those are what it would take.
struct PortFigures {
  double payload_bytes = 0;
  double wire_bytes = 0;  ///< frames, as rates count them
  std::int64_t packets = 0;
  std::int64_t lost = 0;     ///< as the experiment asks
  std::int64_t dropped = 0;  ///< that found the queue full
  std::int64_t marked = 0;   ///< by ECN
  double deepest_bytes = 0;  ///< the most that a packet found waiting
  Duration paused = {};      ///< how long RDMA was held back by the switch behind it
};

/// Hosts whose messages to one of them, the hub, are summed by switches on their way, or that get the
/// hub's messages by multicast: over the links of the members' paths to the hub, once each.
struct GroupRequest {
  bool sums = false;
  int hub = 0;
  std::vector<int> members = {};  ///< other hosts, one for each member
  /// Packets that a sender may have on their way: slots of sums, credits of a multicast.
  int slots = 512;
  int switch_slots = 512;  ///< of each switch at least, for all groups
  int priority = 0;
  int beside = 1;  ///< such groups that a member is in at the same time, this one included
};

/// What groups had to do besides.
struct GroupFigures {
  std::int64_t passed = 0;  ///< packets that found no slot and were passed on without a sum
  std::int64_t resent = 0;  ///< packets that were sent again
};

class Medium {
 public:
  virtual ~Medium() = default;

  /// One direction from host to host, over which messages go one after another; returns its number.
  /// REQUIRES: datagrams have a pace.
  virtual int connect(int from, int to, const Sending& sending) = 0;
  int connect(int from, int to) { return connect(from, to, {}); }
  /// Gives up what has not left; what has may still come. Its number may be another's next.
  virtual void close(int connection, Duration now) = 0;
  /// A message of no bytes, or inside one host, takes no time on the line.
  virtual void send(int connection, std::int64_t bytes, Tag tag, Duration now) = 0;
  /// Sends what may be passed on from its first bytes, and passes on what messages `behind` bring,
  /// whose own first bytes are there: it leaves when they have come, not before.
  virtual void send_on(int connection, std::int64_t bytes, Tag tag, std::span<const Tag> behind,
                       Duration now);

  /// One more message of the connection is read, whether or not it has been sent.
  virtual void reads(int connection, Duration now) = 0;

  /// Returns the group's number. REQUIRES: no member is on the hub's host.
  virtual int join(const GroupRequest& group) = 0;
  /// A member's next message to the hub, or the hub's for that member: the n-th ones of all members
  /// belong together and have equal bytes. What is summed has come for all when the hub has it; what
  /// is multicast leaves when there is a message for each member. REQUIRES: bytes > 0.
  virtual void send_in_group(int group, int member, std::int64_t bytes, Tag tag, Duration now) = 0;
  virtual GroupFigures group_figures() const = 0;
  /// What a stream sends from now on is of a new step of its job, of so many bytes; 0: nobody knows.
  virtual void begin_step(int connection, std::int64_t bytes) = 0;

  /// When something happens next as things are; nothing: never. To be asked after all that happens
  /// at one time has been told.
  virtual std::optional<Duration> next() = 0;
  /// REQUIRES: now <= next().
  virtual void advance(Duration now) = 0;

  /// From now on a port is another; with a rate of 0 nothing gets through.
  virtual void alter(int port, const network::Request& request, Duration now) = 0;

  /// Payload bytes of a connection that are there by now, those of unfinished messages as well.
  virtual std::int64_t arrived(int connection, Duration now) const = 0;
  virtual PortFigures figures(int port) const = 0;
  virtual const network::Network& network() const = 0;
};

inline void Medium::send_on(int connection, std::int64_t bytes, Tag tag,
                            std::span<const Tag> behind, Duration now) {
  check(behind.empty(), "who tells of first bytes passes them on");
  send(connection, bytes, tag, now);
}

}  // namespace tw::medium
