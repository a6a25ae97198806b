// SPDX-License-Identifier: Apache-2.0
// A network on which messages travel packet by packet over TCP (netsim/net.h), as hosts with the
// experiment's congestion control and buffers would send them, or over RDMA (rdma.h).
//
// A message has left when the kernel has taken all of it, and has come when all is there in order. A
// host holds back what its own line cannot take; every other port drops what finds its queue full.
//
// Limits: connections are open and have agreed on everything when the experiment begins; every
// direction of a connection is one of its own, so acknowledgements never ride on data.

#pragma once

#include "trainwire/group/group.h"
#include "trainwire/medium/medium.h"
#include "trainwire/medium/routes.h"
#include "trainwire/netsim/net.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tw::medium {

/// How hosts of an experiment send: congestion control, segments, buffers, offloads.
netsim::TcpOptions tcp_options(const spec::Network& network);

/// While it lives, somebody calls.
class Calling {
 public:
  explicit Calling(bool& is_calling) : is_calling_(is_calling) { is_calling_ = true; }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;
  ~Calling() { is_calling_ = false; }

 private:
  bool& is_calling_;
};

class PacketNetwork : public Medium {
 public:
  /// A packet that passes a host's own device.
  struct Sight {
    netsim::Packet packet = {};
    int conversation = 0;    ///< number of its connection, or of the one that this answers
    bool is_answer = false;  ///< its connection answers that one
    int from = 0;            ///< hosts of its connection
    int to = 0;
    bool out = false;  ///< at the host that sends it
    netsim::Time at = 0;
  };
  using Seen = std::function<void(const Sight& sight)>;

  /// Throws SpecError for links without a rate, or a congestion control that is not simulated.
  PacketNetwork(const spec::Network& network, std::uint64_t seed, Told told, Seen seen = {});

  using Medium::connect;
  int connect(int from, int to, const Sending& sending) override;
  void close(int connection, Duration now) override;
  void send(int connection, std::int64_t bytes, Tag tag, Duration now) override;
  void send_on(int connection, std::int64_t bytes, Tag tag, std::span<const Tag> behind,
               Duration now) override;
  void reads(int connection, Duration now) override;
  int join(const GroupRequest& group) override;
  void send_in_group(int group, int member, std::int64_t bytes, Tag tag, Duration now) override;
  GroupFigures group_figures() const override;
  void begin_step(int connection, std::int64_t bytes) override;
  std::optional<Duration> next() override;
  void advance(Duration now) override;
  void alter(int port, const network::Request& request, Duration now) override;
  std::int64_t arrived(int connection, Duration now) const override;
  PortFigures figures(int port) const override;
  const network::Network& network() const override { return network_; }

  const netsim::Net& net() const { return net_; }

 private:
  /// A message that others may follow while it comes.
  struct Coming {
    Tag tag = 0;
    std::int64_t begin = 0;  ///< byte of the connection
    std::int64_t bytes = 0;
    std::int64_t there = 0;  ///< of those
    bool begun = false;
    std::vector<std::pair<int, std::size_t>> followers =
        {};  ///< connection, and place among sources
  };
  /// What a message may send of its bytes: the least share of those that it passes on.
  struct Passing {
    std::int64_t bytes = 0;
    std::int64_t allowed = 0;
    std::vector<double> shares = {};  ///< of each source, that are there
    std::optional<Tag> bare = {};     ///< of a message that needs no packets: it waits for all
  };
  /// Messages of a connection come in the order in which they were sent.
  struct Expected {
    Tag tag = 0;
    bool is_there = false;
  };
  struct Connection {
    int from = 0;
    int to = 0;
    int number = -1;  ///< in net_; -1: inside a host
    std::optional<int> answers = {};
    Duration way = {};         ///< of what has no bytes
    std::int64_t written = 0;  ///< bytes of all messages
    bool is_read_in_turn = false;
    std::int64_t sent = 0;                 ///< messages
    std::int64_t read = 0;                 ///< of those, or of those to come
    std::deque<std::int64_t> unread = {};  ///< where messages begin that nobody reads yet
    std::int64_t room = 0;                 ///< bytes of those that the receiver's socket holds
    std::deque<Expected> expected = {};
    std::deque<Coming> coming = {};
    Passing passing = {};  ///< of its last message
  };
  /// A message that needs no packets is there.
  struct Arrival {
    Duration at = {};
    std::uint64_t number = 0;
    int connection = 0;
    Tag tag = 0;
    bool operator>(const Arrival& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  Connection& at(int number) { return connections_[static_cast<std::size_t>(number)]; }
  const Connection& at(int number) const { return connections_[static_cast<std::size_t>(number)]; }
  std::function<void(const netsim::Packet&, bool, netsim::Time)> seen_by(Seen seen);
  int connect_in_net(const network::Flow& flow, const Sending& sending);
  const netsim::Sprayed& sprayed(int from, int to);
  Duration longest_wait(const std::vector<std::vector<int>>& paths) const;
  static std::int64_t allowed_of(const Passing& passing);
  void send_bare(int number, Tag tag, Duration now);
  void tell_left(Tag tag, Duration now);
  void tell_those_that_left(Duration now);
  void came(int number, Tag tag, Duration now);
  void progressed(int net_connection, std::int64_t bytes, netsim::Time now);
  void pass_on(const Coming& coming, double share, netsim::Time now);
  static void keep_unread(Connection& connection);
  void bound(const Connection& connection, Duration now);
  void allow(int number, std::size_t source, double share, netsim::Time now);

  spec::Network asked_;
  network::Network network_;
  netsim::TcpOptions options_;
  Routes routes_;
  std::map<std::pair<int, int>, netsim::Sprayed> sprayed_;  ///< by both hosts
  Told told_;
  std::deque<Connection> connections_;       ///< which stay where they are
  std::vector<int> of_net_;                  ///< connection by number in net_
  std::unordered_map<Tag, int> travelling_;  ///< by tag: on which connection
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> bare_;
  std::uint64_t made_ = 0;
  Duration now_ = {};
  bool is_advancing_ = false;       ///< net_, which is in the middle of a connection's messages
  std::vector<int> to_bound_ = {};  ///< connections, afterwards
  bool is_sending_ = false;         ///< somebody calls, who is not to be called meanwhile
  std::deque<std::pair<Duration, Tag>> left_;  ///< to be told
  netsim::Net net_;
  group::SlotPool slots_;
  std::vector<std::unique_ptr<group::Group>> groups_;
};

}  // namespace tw::medium
