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
// What passes on messages flows from their first bytes on with a share of its own, and does not end
// before the last of them has come.
//
// Limits: no queues, no loss, no slow start: a flow has its share from its first moment. Paths are
// picked by destination, as the emulation picks them.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/fluid/sharing.h"
#include "trainwire/network/network.h"
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

/// How many of a frame's bytes, as rates count them, are payload.
double payload_share(const spec::Network& network);

class FlowNetwork : public Medium {
 public:
  /// Throws SpecError for links without a rate.
  FlowNetwork(const spec::Network& network, Told told);

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
  const network::Network& network() const override { return network_; }

  /// Propagation one way, and each further line's time for a frame.
  Duration travelling(int connection) const { return at(connection).travelling; }
  /// Of max-min: see fluid::Sharing.
  bool certified() const { return sharing_.certified(); }

 private:
  struct Message {
    double bytes = 0;
    Tag tag = 0;
    bool is_passed_on = false;  ///< told of when its first bytes are there
    int behind = 0;             ///< messages that it passes on and that have not come yet
  };
  /// Its first message flows; the others wait.
  struct Connection {
    std::vector<int> ports = {};
    Duration travelling = {};
    Manner manner = Manner::Stream;
    /// Bytes of a stream that take as much of a line: datagrams have shorter headers. All bytes
    /// below are such bytes.
    double worth = 1;
    double pace = fluid::kNoCap;  ///< bytes a second
    std::deque<Message> messages = {};
    int share = -1;       ///< its number in sharing_; -1: nothing flows
    double left = 0;      ///< bytes of the first message, at `since`
    Duration since = {};  ///< when its rate last changed
    double rate = 0;      ///< bytes a second that come
    double carried = 0;   ///< bytes that the path has, until `since`
    bool waits = false;   ///< all of the first message has gone that can have come
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
    bool operator>(const Arrival& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  Connection& at(int number) { return connections_[static_cast<std::size_t>(number)]; }
  const Connection& at(int number) const { return connections_[static_cast<std::size_t>(number)]; }
  void begin(int number, Duration now);
  void settle(Connection& connection, Duration now);
  void carry(Connection& connection, double bytes);
  void stop_flowing(Connection& connection);
  void solve(Duration now);
  void expect(int number, Duration now);
  std::optional<int> ended(Duration now);
  void end_message(int number, Duration now);
  void arrive(const Arrival& arrival, Duration now);
  void forget_stale();

  network::Network network_;
  Told told_;
  double payload_share_;
  double datagram_worth_;
  int frame_bytes_;
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
  std::vector<double> carried_;  ///< by port, in bytes of streams
  std::vector<double> payload_;  ///< by port
  std::uint64_t made_ = 0;
  int flowing_ = 0;  ///< connections
  Duration now_ = {};
  bool changed_ = false;
};

}  // namespace tw::sim
