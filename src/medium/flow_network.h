// SPDX-License-Identifier: Apache-2.0
// A network over which messages flow like fluids: each message is a flow from its first byte to its
// last, all that share a port share its rate (fluid/sharing.h), and what has left a host is there
// after the propagation of its path.
//
// A port carries payload at its rate less headers: of a frame of MTU + 14 bytes the payload is MTU
// - 52 (IPv4; 72 for IPv6), as rates count it. Flows of equal paths are alike, but that datagrams
// take their pace first; where even that is too much, their share comes and the rest is lost (and
// counted nowhere). A message of no bytes, or between ranks of one host, takes no time on the line.
//
// Streams are TCP's (fluid/tcp_stream.h): shares are weighted by the inverse of round trips, with the
// shortest queue that other hosts may fill counted as half full; a stream has no more than its window
// allows, loses what its path loses, and a message is there when all of it is, what was lost included.
//
// A message has left when the kernel has taken it: what its buffer holds, or a window, beyond what was
// acknowledged. Without TCP, and over RDMA, when its last byte is on the line.
//
// What passes on messages flows from their first bytes on with a share of its own, no further than
// to what was lost of them, and does not end before the last of them has come.
//
// Limits: queues are no place where anything waits, nor is lost.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/base/units.h"
#include "trainwire/fluid/priorities.h"
#include "trainwire/fluid/tcp_stream.h"
#include "trainwire/medium/flow_connection.h"
#include "trainwire/medium/flow_groups.h"
#include "trainwire/medium/flow_paths.h"
#include "trainwire/medium/medium.h"
#include "trainwire/network/network.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tw::medium {

struct FlowOptions {
  std::uint64_t seed = 1;  ///< of what is lost
  /// Otherwise streams have their share at once, all alike, and lose nothing.
  bool tcp = true;
};

class FlowNetwork : public Medium {
 public:
  /// Throws SpecError for links without a rate.
  FlowNetwork(const spec::Network& network, Told told, const FlowOptions& options = {});

  using Medium::connect;
  int connect(int from, int to, const Sending& sending) override;
  void close(int connection, Duration now) override;
  void send(int connection, std::int64_t bytes, Tag tag, Duration now) override;
  void send_on(int connection, std::int64_t bytes, Tag tag, std::span<const Tag> behind,
               Duration now) override;
  void reads(int connection, Duration now) override;
  int join(const GroupRequest& group) override;
  void send_in_group(int group, int member, std::int64_t bytes, Tag tag, Duration now) override;
  GroupFigures group_figures() const override { return {}; }  ///< they wait instead
  void begin_step(int connection, std::int64_t bytes) override;
  std::optional<Duration> next() override;
  void advance(Duration now) override;
  void alter(int port, const network::Request& request, Duration now) override;
  std::int64_t arrived(int connection, Duration now) const override;
  PortFigures figures(int port) const override;
  const network::Network& network() const override { return paths_.network(); }

  /// Propagation one way, and each further line's time for a frame.
  Duration travelling(int connection) const { return at(connection).path.travelling; }
  /// Of max-min: see fluid::Priorities.
  bool certified() const { return sharing_.certified(); }

 private:
  double worth_of(Manner manner) const;
  FlowConnection& at(int number) { return connections_[static_cast<std::size_t>(number)]; }
  const FlowConnection& at(int number) const {
    return connections_[static_cast<std::size_t>(number)];
  }
  void queued(int number, Duration now);
  void begin(int number, Duration now);
  void flow(int number, Duration now);
  void set_path(FlowConnection& connection);
  static double step_share(const FlowConnection& connection);
  static double step_gain(const FlowConnection& connection);
  static double until_heavier(const FlowConnection& connection);
  double weight_of(const FlowConnection& connection) const;
  double cap_of(const FlowConnection& connection, Duration now) const;
  void set_cap(FlowConnection& connection, Duration now);
  void settle(FlowConnection& connection, Duration now);
  void carry(FlowConnection& connection, double bytes);
  void stop_flowing(FlowConnection& connection);
  struct Bursts {
    double bytes = 0;    ///< of the streams that burst
    double queued = 0;   ///< of those, there now
    double to_come = 0;  ///< and not there yet
    double comes = 0;    ///< how fast, after pauses
    double doubles = 0;  ///< how fast lines would allow those in slow start
    double others = 0;   ///< that the others have of the line
  };
  double free_at(int port, double rate) const;
  Bursts bursts_at(int port, Duration now) const;
  struct Slowest {
    int port = 0;
    double goes = 0;  ///< bytes a second that it has for a stream
    double room = 0;  ///< bytes of its queue
  };
  void meet_bursts(const FlowConnection& connection, const Slowest& slowest,
                   fluid::TcpStream::Queue& queue, Duration now) const;
  double answers_wait_s(const FlowConnection& connection) const;
  void meet_queue(FlowConnection& connection, Duration now);
  void solve(Duration now);
  void expect(int number, Duration now);
  void expect_at(int number, Duration at);
  void look_again(int number, Duration now);
  std::optional<int> due(Duration now);
  void happen(int number, Duration now);
  std::optional<double> until_taken(const FlowConnection& connection) const;
  std::vector<Tag> take(FlowConnection& connection);
  void lose(int number, const fluid::TcpStream::Lost& lost, Duration now);
  void tell_holes(Tag tag, Duration now);
  static void keep_unread(FlowConnection& connection, FlowMessage& message);
  static const FlowHole* next_hole(const FlowMessage& message, Duration now);
  void pause(int number, Duration until);
  void end_message(int number, Duration now);
  void notice_tail(int number, Duration now);
  void set_group_path(FlowConnection& connection);
  double segment_bytes() const;
  double group_pace(const FlowGroup& group, double part) const;
  void share_slots(Duration now);
  void end_in_group(int number, Duration now);
  void arrive(const FlowArrival& arrival, Duration now);
  void forget_stale();

  FlowPaths paths_;
  Told told_;
  FlowOptions options_;
  Random luck_;  ///< of uneven streams
  double datagram_worth_;
  double rdma_worth_;
  bool weighs_steps_;  ///< the network's congestion control
  fluid::Priorities sharing_;
  std::vector<FlowConnection> connections_;
  std::vector<int> closed_;
  std::vector<FlowGroup> groups_;
  int switch_slots_ = 0;
  std::vector<int> of_share_;  ///< connection by number in sharing_
  std::vector<FlowEnd> ends_;  ///< a heap
  std::priority_queue<FlowArrival, std::vector<FlowArrival>, std::greater<>> arrivals_;
  std::unordered_set<std::uint64_t> overtaken_;  ///< arrivals in whose place there are sooner ones
  std::unordered_multimap<Tag, FlowFollower> followers_;  ///< by the message that is passed on
  std::unordered_map<Tag, std::vector<FlowHole>> holes_;  ///< in messages that are passed on
  std::vector<double> carried_;                           ///< by port, in bytes of streams
  std::vector<double> payload_;                           ///< by port
  std::uint64_t made_ = 0;
  std::uint64_t streams_ = 0;
  int flowing_ = 0;  ///< connections
  Duration now_ = {};
  bool changed_ = false;
};

}  // namespace tw::medium
