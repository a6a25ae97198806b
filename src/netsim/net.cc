// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/net.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <utility>

namespace tw::netsim {
namespace {

std::vector<std::optional<rdma::PauseRule>> rules_of(const std::vector<PortSettings>& ports) {
  std::vector<std::optional<rdma::PauseRule>> rules;
  for (const PortSettings& port : ports) rules.push_back(port.pause);
  return rules;
}

}  // namespace

Net::Net(std::vector<PortSettings> ports, std::uint64_t seed, NetTold told)
    : pauses_(rules_of(ports)), told_(std::move(told)) {
  ports_.reserve(ports.size());
  for (PortSettings& settings : ports) ports_.emplace_back(std::move(settings), seed);
}

int Net::connect(std::vector<int> there, std::vector<int> back, const TcpOptions& options) {
  check(!there.empty() && !back.empty(), "a connection leads somewhere");
  check(there.size() <= kLongestPath && back.size() <= kLongestPath, "paths are short");
  const int number = static_cast<int>(connections_.size());
  Connection& made = *connections_.emplace_back(std::make_unique<Connection>());
  made.there = std::move(there);
  made.back = std::move(back);
  made.priority = options.priority;
  admit(made.there, made.priority);
  admit(made.back, made.priority);
  made.sender.emplace(options, number, [this, &made](const Packet& packet, Time now) {
    return emit(made.there, packet, now);
  });
  made.receiver.emplace(options, number, [this, &made](const Packet& packet, Time now) {
    emit(made.back, complete(made, packet), now);
  });
  return number;
}

int Net::connect(std::vector<int> there, const DatagramOptions& options) {
  check(!there.empty() && options.pace.bits_per_second() > 0, "datagrams go somewhere, at a pace");
  Connection& made = *connections_.emplace_back(std::make_unique<Connection>());
  made.there = std::move(there);
  made.priority = options.priority;
  admit(made.there, made.priority);
  made.datagrams = options;
  return static_cast<int>(connections_.size()) - 1;
}

void Net::admit(const std::vector<int>& ports, int priority) {
  for (const int port : ports) ports_[static_cast<std::size_t>(port)].admit(priority);
}

void Net::spray(int number, Sprayed there, Sprayed back) {
  Connection& connection = at(number);
  for (const Sprayed& ways : {there, back}) {
    for (std::size_t i = 0; ways && i < ways->size(); ++i) {
      admit((*ways)[i], connection.priority);
      if (!connection.rdma) continue;
      for (const int port : (*ways)[i]) ports_[static_cast<std::size_t>(port)].hold();
    }
  }
  connection.sprayed_there = std::move(there);
  connection.sprayed_back = std::move(back);
}

/// Of a sprayed packet: by what tells it from others of its connection, which stays as it is on its
/// way.
const std::vector<int>& Net::path_of(const Connection& connection, const Packet& packet) {
  const Sprayed& ways = packet.is_ack ? connection.sprayed_back : connection.sprayed_there;
  if (!ways) return packet.is_ack ? connection.back : connection.there;
  std::uint64_t mixed = static_cast<std::uint64_t>(packet.connection) << 40U ^
                        static_cast<std::uint64_t>(packet.segment) << 8U ^
                        std::uint64_t{packet.train} << 32U ^ packet.sacks[0].end;
  for (const int shift : {31, 29, 32}) {
    mixed = (mixed ^ mixed >> static_cast<unsigned>(shift)) * 0x9e3779b97f4a7c15U;
  }
  return (*ways)[(mixed >> 32U) % ways->size()];
}

void Net::send(int number, std::int64_t bytes, std::int64_t allowed, std::uint64_t tag, Time now) {
  Connection& connection = at(number);
  check(bytes > 0 && allowed <= bytes, "a message has bytes");
  check(connection.allowed == connection.written, "messages go one after another");
  connection.written += bytes;
  connection.messages.push({.end_byte = connection.written, .tag = tag});
  if (allowed > 0) allow(number, allowed, now);
}

void Net::allow(int number, std::int64_t bytes, Time now) {
  Connection& connection = at(number);
  connection.allowed += bytes;
  check(connection.allowed <= connection.written, "nothing is sent that was not asked for");
  if (connection.rdma) {
    connection.rdma->sender.write(bytes, connection.allowed == connection.written, now);
  } else if (connection.sender) {
    connection.sender->write(bytes, now);
  } else if (connection.sender_entry == kNever) {
    connection.next_datagram = std::max(connection.next_datagram, now);
    send_datagrams(connection, number, now);
  }
  settle(connection, number, now);
}

void Net::bound(int number, std::int64_t bytes, std::int64_t room, Time now) {
  Connection& connection = at(number);
  if (!connection.sender) return;
  connection.sender->bound(bytes, room, now);
  settle(connection, number, now);
}

void Net::close(int number) {
  Connection& connection = at(number);
  connection.closed = true;
  if (connection.sender) connection.sender->give_up();
  if (connection.rdma) connection.rdma->sender.give_up();
  connection.written = connection.allowed = connection.sent_bytes();
  while (!connection.messages.empty()) connection.messages.pop();
  connection.first_to_leave = connection.messages.end();
}

void Net::alter(int number, PortSettings settings, Time now) {
  Port& port = ports_[static_cast<std::size_t>(number)];
  port.alter(std::move(settings));
  if (port.holds()) serve(number, now);
}

int Net::admit(Guest& guest, int priority) {
  guests_.push_back({.guest = &guest, .priority = priority});
  return -static_cast<int>(guests_.size());
}

void Net::call(int connection, int what, Time at) {
  agenda_.add(at, GuestDue | static_cast<std::uint32_t>(what) * (kWhatBits + 1), connection);
}

Time Net::emit(const std::vector<int>& path, Packet packet, Time now) {
  packet.sent_ms = static_cast<std::uint32_t>(now / kMillisecond);
  const Time left = enter(path.front(), -1, packet, now);
  if (told_.seen && left != kNever) told_.seen(packet, true, left);
  return left;
}

/// What a receiver does not know of its acknowledgement: the byte, and whose time it echoes.
Packet Net::complete(const Connection& connection, Packet ack) const {
  ack.byte = connection.received;
  if (connection.sender->outstanding().has(ack.segment - 1)) {
    ack.byte = connection.sender->end_byte(ack.segment - 1);
  }
  ack.echo_ms = connection.echo_ms;
  return ack;
}

int Net::priority_of(const Packet& packet) const {
  if (packet.connection >= 0) return at(packet.connection).priority;
  return guests_[static_cast<std::size_t>(~packet.connection)].priority;
}

Time Net::enter(int number, int from, const Packet& packet, Time now) {
  Port& port = ports_[static_cast<std::size_t>(number)];
  ++hops_;
  if (port.holds()) {
    return hold(number, {.packet = packet, .from = from, .priority = priority_of(packet)}, now);
  }
  const bool was_empty = port.empty();
  const Time left = port.arrive(packet, now);
  if (was_empty && !port.empty()) agenda_.add(port.next(), Arrival, number);
  return left;
}

/// The next packet of a port is at its other end, as the first entry of the agenda says.
void Net::arrive(int number, Time now) {
  Port& port = ports_[static_cast<std::size_t>(number)];
  Packet packet = port.take();
  if (port.empty()) {
    agenda_.take();
  } else {
    agenda_.replace_first(port.next(), Arrival, number);
  }
  if (packet.connection < 0) {
    Guest& guest = *guests_[static_cast<std::size_t>(~packet.connection)].guest;
    return guest.arrive(number, packet, now);
  }
  const std::vector<int>& path = path_of(at(packet.connection), packet);
  ++packet.hop;
  if (packet.hop < path.size()) {
    enter(path[packet.hop], number, packet, now);
  } else {
    deliver(packet, port.continues(packet, now), now);
  }
}

void Net::deliver(const Packet& packet, bool continues, Time now) {
  if (told_.seen) told_.seen(packet, false, now);
  Connection& connection = at(packet.connection);
  const std::int64_t before = connection.received;
  if (connection.rdma) {
    deliver_rdma(*connection.rdma, connection.received, packet, now);
  } else if (packet.is_ack) {
    connection.sender->acknowledged(packet, now);
  } else if (!connection.sender) {
    connection.received += packet.payload_bytes;
  } else {
    connection.echo_ms = packet.sent_ms;
    const std::int64_t missing = connection.receiver->next();
    // Of a segment that is new the sender has not heard yet, so it still has its bytes.
    connection.receiver->arrived(packet, continues, now);
    const std::int64_t next = connection.receiver->next();
    if (next > missing) connection.received = connection.sender->end_byte(next - 1);
  }
  settle(connection, packet.connection, now);
  if (connection.followed && connection.received > before) {
    told_.progressed(packet.connection, connection.received, now);
  }
}

void Net::send_datagrams(Connection& connection, int number, Time now) {
  const DatagramOptions& options = connection.datagrams;
  while (connection.sent < connection.allowed && connection.next_datagram <= now) {
    const auto bytes = static_cast<std::int32_t>(
        std::min<std::int64_t>(options.payload_bytes, connection.allowed - connection.sent));
    connection.sent += bytes;
    connection.next_datagram += time_of_seconds(8.0 * bytes / options.pace.bits_per_second());
    emit(connection.there,
         {.connection = number,
          .frame_bytes = static_cast<std::uint16_t>(bytes + options.header_bytes),
          .is_datagram = true,
          .segment = connection.sent / options.payload_bytes,
          .payload_bytes = bytes},
         now);
  }
}

/// Tells what has left and come, and sees to the timers.
void Net::settle(Connection& connection, int number, Time now) {
  while (connection.first_to_leave < connection.messages.end() &&
         connection.messages[connection.first_to_leave].end_byte <= connection.taken_bytes()) {
    told_.left(connection.messages[connection.first_to_leave++].tag, now);
  }
  while (!connection.messages.empty() &&
         connection.messages.front().end_byte <= connection.received) {
    const std::uint64_t tag = connection.messages.front().tag;
    connection.messages.pop();
    told_.came(tag, now);
  }
  expect(connection, number);
}

/// Enters in the agenda when the ends want to be called, unless they are called before.
void Net::expect(Connection& connection, int number) {
  Time due = kNever;
  if (connection.rdma) {
    due = connection.rdma->sender.due();
  } else if (connection.sender) {
    due = connection.sender->due();
  } else if (connection.sent < connection.allowed) {
    due = connection.next_datagram;
  }
  if (due < connection.sender_entry) {
    connection.sender_entry = due;
    agenda_.add(due, SenderDue, number);
  }
  if (connection.receiver && connection.receiver->due() < connection.receiver_entry) {
    connection.receiver_entry = connection.receiver->due();
    agenda_.add(connection.receiver_entry, ReceiverDue, number);
  }
}

void Net::advance(Time until) {
  while (!agenda_.empty() && agenda_.first().at <= until) {
    const Agenda::Entry entry = agenda_.first();
    // The next packet of a port takes the place of the one that arrives.
    if (entry.what != Arrival) agenda_.take();
    switch (static_cast<What>(entry.what & kWhatBits)) {
      case Arrival:
        arrive(entry.whose, entry.at);
        break;
      case LineFree:
        line_free(entry.whose, entry.at);
        break;
      case Pause:
      case GoOn:
        ports_[static_cast<std::size_t>(entry.whose)].pause(entry.what == Pause, entry.at);
        if (entry.what == GoOn) serve(entry.whose, entry.at);
        break;
      case SenderDue:
      case ReceiverDue:
        wake(entry);
        break;
      case GuestDue:
        guests_[static_cast<std::size_t>(~entry.whose)].guest->wake(
            static_cast<int>(entry.what / (kWhatBits + 1)), entry.at);
        break;
    }
  }
}

/// Times are moved far more often than they come: an entry may be too early, or one of several.
void Net::wake(const Agenda::Entry& entry) {
  Connection& connection = at(entry.whose);
  if (entry.what == ReceiverDue) {
    if (entry.at != connection.receiver_entry) return;
    connection.receiver_entry = kNever;
    if (connection.receiver->due() <= entry.at) connection.receiver->woken(entry.at);
  } else {
    if (entry.at != connection.sender_entry) return;
    connection.sender_entry = kNever;
    if (connection.rdma) {
      if (connection.rdma->sender.due() <= entry.at) connection.rdma->sender.woken(entry.at);
    } else if (!connection.sender) {
      send_datagrams(connection, entry.whose, entry.at);
    } else if (connection.sender->due() <= entry.at) {
      connection.sender->woken(entry.at);
    }
  }
  settle(connection, entry.whose, entry.at);
}

}  // namespace tw::netsim
