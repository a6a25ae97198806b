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
// Streams are TCP's (fluid/tcp_stream.h): shares are weighted by the inverse of round trips, with
// the queue before the slowest line counted as full; a stream has no more than its window allows,
// loses what its path loses, and a message is there when all of it is, what was lost included.
//
// What passes on messages flows from their first bytes on with a share of its own, no further than
// to what was lost of them, and does not end before the last of them has come.
//
// Limits: queues are no place where anything waits, nor is lost; streams lose no acknowledgements.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/fluid/sharing.h"
#include "trainwire/fluid/tcp_stream.h"
#include "trainwire/network/network.h"
#include "trainwire/sim/flow_paths.h"
#include "trainwire/sim/medium.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tw::sim {

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
  std::optional<Duration> next() override;
  void advance(Duration now) override;
  void alter(int port, const network::Request& request, Duration now) override;
  std::int64_t arrived(int connection, Duration now) const override;
  PortFigures figures(int port) const override;
  const network::Network& network() const override { return paths_.network(); }

  /// Propagation one way, and each further line's time for a frame.
  Duration travelling(int connection) const { return at(connection).path.travelling; }
  /// Of max-min: see fluid::Sharing.
  bool certified() const { return sharing_.certified(); }

 private:
  /// What was lost of a message, so that what passes it on comes no further for a while.
  struct Hole {
    double at = 0;  ///< bytes
    Duration filled = {};
  };
  struct Message {
    double bytes = 0;
    Tag tag = 0;
    bool is_passed_on = false;     ///< told of when its first bytes are there
    int behind = 0;                ///< messages that it passes on and that have not come yet
    std::vector<Hole> holes = {};  ///< in those
    Duration repaired = {};        ///< when the last of what it lost is there
    bool lost_tail = false;        ///< what was lost last would be noticed sooner if more followed
  };
  /// Its first message flows; the others wait.
  struct Connection {
    int from = 0;
    int to = 0;
    FlowPath path = {};
    Manner manner = Manner::Stream;
    /// Bytes of a stream without loss that take as much of a line: datagrams have shorter headers,
    /// RDMA smaller packets, some segments go twice. All bytes below are such bytes.
    double worth = 1;
    double pace = fluid::kNoCap;  ///< bytes a second
    std::optional<fluid::TcpStream> stream = {};
    std::deque<Message> messages = {};
    int share = -1;                ///< its number in sharing_; -1: nothing flows
    double cap = fluid::kNoCap;    ///< there
    double left = 0;               ///< bytes of the first message, at `since`
    Duration since = {};           ///< when its rate last changed
    double rate = 0;               ///< bytes a second that come
    double carried = 0;            ///< bytes that the path has, until `since`
    bool waits = false;            ///< all of the first message has gone that can have come
    bool pauses = false;           ///< what it passes on has a hole
    Duration arrived = {};         ///< when the last that has left is there
    std::optional<Tag> tail = {};  ///< a message whose lost tail has not been noticed
    std::uint64_t tail_version = 0;
    std::uint64_t version = 0;

    /// Bytes a second that leave.
    double leaving() const { return manner == Manner::Datagrams ? pace : rate; }
  };
  struct End {
    Duration at = {};
    int connection = 0;
    std::uint64_t version = 0;
    bool operator>(const End& other) const {
      return std::tie(at, connection) > std::tie(other.at, other.connection);
    }
  };
  struct Arrival {
    Duration at = {};
    std::uint64_t number = 0;  ///< of equal times the first made comes first
    Tag tag = 0;
    bool begins = false;  ///< only its first bytes
    int connection = 0;
    std::uint64_t tail_version = 0;  ///< not 0: may come sooner
    bool operator>(const Arrival& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  double worth_of(Manner manner) const;
  Connection& at(int number) { return connections_[static_cast<std::size_t>(number)]; }
  const Connection& at(int number) const { return connections_[static_cast<std::size_t>(number)]; }
  void begin(int number, Duration now);
  void flow(int number, Duration now);
  void set_path(Connection& connection);
  double cap_of(const Connection& connection, Duration now) const;
  void set_cap(Connection& connection, Duration now);
  void settle(Connection& connection, Duration now);
  void carry(Connection& connection, double bytes);
  void stop_flowing(Connection& connection);
  void solve(Duration now);
  void expect(int number, Duration now);
  void expect_at(int number, Duration at);
  std::optional<int> due(Duration now);
  void happen(int number, Duration now);
  void lose(int number, const fluid::TcpStream::Lost& lost, Duration now);
  void tell_holes(Tag tag, Duration now);
  static const Hole* next_hole(const Message& message, Duration now);
  void pause(int number, Duration until);
  void end_message(int number, Duration now);
  void notice_tail(int number, Duration now);
  void arrive(const Arrival& arrival, Duration now);
  void forget_stale();

  FlowPaths paths_;
  Told told_;
  FlowOptions options_;
  double datagram_worth_;
  double rdma_worth_;
  fluid::Sharing sharing_;
  std::vector<Connection> connections_;
  std::vector<int> closed_;
  std::vector<int> of_share_;  ///< connection by number in sharing_
  std::vector<End> ends_;      ///< a heap
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  /// By a message that is passed on: by whom.
  struct Follower {
    int connection = 0;
    Tag tag = 0;
  };
  std::unordered_multimap<Tag, Follower> followers_;
  std::unordered_map<Tag, std::vector<Hole>> holes_;  ///< in messages that are passed on
  std::vector<double> carried_;                       ///< by port, in bytes of streams
  std::vector<double> payload_;                       ///< by port
  std::uint64_t made_ = 0;
  std::uint64_t streams_ = 0;
  int flowing_ = 0;  ///< connections
  Duration now_ = {};
  bool changed_ = false;
};

}  // namespace tw::sim
