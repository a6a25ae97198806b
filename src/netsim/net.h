// SPDX-License-Identifier: Apache-2.0
// Ports, and connections over them, in virtual time: one event a packet and port.
//
// A connection is one direction: data take one list of ports, acknowledgements another. Messages are
// bytes of its stream, one after another; the last one may be held back in part, to be sent as its
// bytes become known. What became of messages is told once an event has been dealt with, so that
// who hears of it may send at once.
//
// A message has left when all of it is sent or in the kernel's buffer. Datagrams are sent at their
// pace, whatever becomes of them.
//
// Queue pairs of RDMA have messages like streams. Ports on their way hold packets back (port.h), and
// do so when a switch that has too much of what they bring says so (rdma/pauses.h).

#pragma once

#include "trainwire/netsim/agenda.h"
#include "trainwire/netsim/guest.h"
#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/port.h"
#include "trainwire/netsim/rdma_receiver.h"
#include "trainwire/netsim/rdma_sender.h"
#include "trainwire/netsim/receiver.h"
#include "trainwire/netsim/sender.h"
#include "trainwire/netsim/tcp_options.h"
#include "trainwire/rdma/options.h"
#include "trainwire/rdma/pauses.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tw::netsim {

struct NetTold {
  std::function<void(std::uint64_t tag, Time now)> left;
  std::function<void(std::uint64_t tag, Time now)> came;
  /// More bytes of a followed connection are there, in order: so many since its begin. Messages
  /// that have come by that are told before.
  std::function<void(int connection, std::int64_t bytes, Time now)> progressed = {};
  /// A packet passes a host's own device: on its way out, when it has left the line, or in. Those
  /// that leave are told before they do.
  std::function<void(const Packet& packet, bool out, Time at)> seen = {};
};

/// How datagrams are sent.
struct DatagramOptions {
  int payload_bytes = 1472;
  int header_bytes = 42;  ///< of a frame, beside its payload
  BitRate pace = {};      ///< of payload
  int priority = 0;
};

/// Equally long paths that packets of a connection take, each another.
using Sprayed = std::shared_ptr<const std::vector<std::vector<int>>>;

class Net {
 public:
  Net(std::vector<PortSettings> ports, std::uint64_t seed, NetTold told);

  /// REQUIRES: both lists are not empty.
  int connect(std::vector<int> there, std::vector<int> back, const TcpOptions& options);
  int connect(std::vector<int> there, const DatagramOptions& options);
  int connect_rdma(std::vector<int> there, std::vector<int> back, const rdma::Options& options);
  /// From now on its packets take these ways, by chance. REQUIRES: each begins with the port that it
  /// began with before; nothing has been sent.
  void spray(int connection, Sprayed there, Sprayed back);
  /// Of the bytes the first `allowed` may be sent now. REQUIRES: bytes > 0, and all of the message
  /// before is allowed.
  void send(int connection, std::int64_t bytes, std::int64_t allowed, std::uint64_t tag, Time now);
  /// So many more bytes of the last message may be sent.
  void allow(int connection, std::int64_t bytes, Time now);
  /// Of a TCP connection: bytes from there on wait until the receiver's window is larger; kUnbounded.
  void bound(int connection, std::int64_t bytes, std::int64_t room, Time now);
  /// Whether its progress is told.
  void follow(int connection) { at(connection).followed = true; }
  /// What is sent from now on is of a new step, which has so many bytes; 0: nobody knows. REQUIRES:
  /// it is a stream.
  void begin_step(int connection, std::int64_t bytes) { at(connection).sender->begin_step(bytes); }
  /// Nothing more is sent that was not sent before.
  void close(int connection);
  void alter(int port, PortSettings settings, Time now);

  /// His packets have what is returned as connection, which is below 0. REQUIRES: he stays, and so
  /// admits that priority to the ports that he uses.
  int admit(Guest& guest, int priority);
  /// Packets of that priority take those ports.
  void admit(const std::vector<int>& ports, int priority);
  /// A guest's packet enters a port; `from`: the port by which it came, -1: none. Returns when it has
  /// left the line; kNever: it was dropped.
  Time enter(int port, int from, const Packet& packet, Time now);
  /// Wakes a guest; what: his, from 0 on.
  void call(int connection, int what, Time at);

  /// kNever: nothing is under way.
  Time next() const { return agenda_.empty() ? kNever : agenda_.first().at; }
  /// All that happens until then.
  void advance(Time until);

  const Port& port(int number) const { return ports_[static_cast<std::size_t>(number)]; }
  /// REQUIRES: it is a stream.
  const Sender& sender(int connection) const { return *at(connection).sender; }
  /// REQUIRES: it is a queue pair.
  const RdmaSender& rdma_sender(int connection) const { return at(connection).rdma->sender; }
  /// Payload bytes that are there: of a stream in order, of datagrams all.
  std::int64_t received(int connection) const { return at(connection).received; }
  /// Packets that ports were given.
  std::int64_t hops() const { return hops_; }

 private:
  enum What : std::uint32_t { Arrival, LineFree, Pause, GoOn, SenderDue, ReceiverDue, GuestDue };
  /// Of what an entry is; the others are what a guest wants to be woken for.
  static constexpr std::uint32_t kWhatBits = 0xf;
  struct Message {
    std::int64_t end_byte = 0;
    std::uint64_t tag = 0;
  };
  struct QueuePair {
    RdmaSender sender;
    RdmaReceiver receiver;
  };
  struct Connection {
    std::vector<int> there = {};
    std::vector<int> back = {};
    Sprayed sprayed_there = {};  ///< none: all go one way
    Sprayed sprayed_back = {};
    int priority = 0;
    std::optional<Sender> sender = {};  ///< of a stream, as is the receiver
    std::optional<Receiver> receiver = {};
    std::optional<QueuePair> rdma = {};
    DatagramOptions datagrams = {};
    std::int64_t sent = 0;     ///< bytes, of datagrams
    std::int64_t written = 0;  ///< bytes of all messages
    std::int64_t allowed = 0;  ///< of those
    std::int64_t received = 0;
    bool followed = false;
    bool closed = false;
    Ring<Message> messages = {};      ///< that have not come
    std::int64_t first_to_leave = 0;  ///< number of the message
    Time sender_entry = kNever;       ///< when the agenda will call the sender
    Time receiver_entry = kNever;
    Time next_datagram = 0;
    std::uint32_t echo_ms = 0;  ///< of the segment that came last

    std::int64_t sent_bytes() const {
      if (rdma) return rdma->sender.sent_bytes();
      return sender ? sender->sent_bytes() : sent;
    }
    /// That are out of the program's hands.
    std::int64_t taken_bytes() const { return sender ? sender->taken_bytes() : sent_bytes(); }
  };

  Connection& at(int number) { return *connections_[static_cast<std::size_t>(number)]; }
  const Connection& at(int number) const { return *connections_[static_cast<std::size_t>(number)]; }
  int priority_of(const Packet& packet) const;
  static const std::vector<int>& path_of(const Connection& connection, const Packet& packet);
  Time emit(const std::vector<int>& path, Packet packet, Time now);
  Packet complete(const Connection& connection, Packet ack) const;
  void arrive(int port, Time now);
  // Of ports that hold packets back.
  Time hold(int port, const Held& held, Time now);
  void serve(int port, Time now);
  void line_free(int port, Time now);
  void tell(int port, std::optional<bool> pause, Time now);
  void deliver(const Packet& packet, bool continues, Time now);
  void deliver_rdma(QueuePair& pair, std::int64_t& received, const Packet& packet, Time now);
  void wake(const Agenda::Entry& entry);
  void send_datagrams(Connection& connection, int number, Time now);
  void settle(Connection& connection, int number, Time now);
  void expect(Connection& connection, int number);

  std::vector<Port> ports_;
  rdma::Pauses pauses_;
  NetTold told_;
  Agenda agenda_;
  std::vector<std::unique_ptr<Connection>> connections_;
  struct Admitted {
    Guest* guest = nullptr;
    int priority = 0;
  };
  std::vector<Admitted> guests_;  ///< whose packets have ~number as connection
  std::int64_t hops_ = 0;
};

}  // namespace tw::netsim
