// SPDX-License-Identifier: Apache-2.0
// Queue pairs of a network, and the ports that hold their packets back.
#include "trainwire/base/error.h"
#include "trainwire/netsim/net.h"

#include <memory>
#include <optional>
#include <utility>

namespace tw::netsim {

int Net::connect_rdma(std::vector<int> there, std::vector<int> back, const rdma::Options& options) {
  check(!there.empty() && !back.empty(), "a queue pair leads somewhere");
  check(there.size() <= kLongestPath && back.size() <= kLongestPath, "paths are short");
  check(options.line.bits_per_second() > 0, "a queue pair starts at its line's rate");
  for (const int port : there) ports_[static_cast<std::size_t>(port)].hold();
  for (const int port : back) ports_[static_cast<std::size_t>(port)].hold();
  const int number = static_cast<int>(connections_.size());
  Connection& made = *connections_.emplace_back(std::make_unique<Connection>());
  made.there = std::move(there);
  made.back = std::move(back);
  made.priority = options.priority;
  admit(made.there, made.priority);
  admit(made.back, made.priority);
  const auto emits = [this, &made](const Packet& packet, Time now) {
    return emit(packet.is_ack ? made.back : made.there, packet, now);
  };
  made.rdma.emplace(QueuePair{.sender = RdmaSender(options, number, emits),
                              .receiver = RdmaReceiver(options, number, emits)});
  return number;
}

void Net::deliver_rdma(QueuePair& pair, std::int64_t& received, const Packet& packet, Time now) {
  if (packet.is_ack) return pair.sender.heard(packet, now);
  const std::int64_t missing = pair.receiver.next();
  // What is new has not been acknowledged, so the sender still has its bytes.
  pair.receiver.arrived(packet, now);
  const std::int64_t next = pair.receiver.next();
  if (next > missing) received = pair.sender.end_byte(next - 1);
}

/// Whether a packet stays depends on the queue, or where its port can be paused on what that brought.
Time Net::hold(int number, const Held& held, Time now) {
  Port& port = ports_[static_cast<std::size_t>(number)];
  const int bytes = held.packet.frame_bytes;
  const bool is_counted = held.packet.lane() == rdma::Lane::Lossless && pauses_.counts(held.from);
  if (is_counted && !pauses_.admits(held.from, bytes)) {
    port.drop();
    return kNever;
  }
  if (!port.accept(held, is_counted, now)) return kNever;
  if (is_counted) tell(held.from, pauses_.hold(held.from, bytes), now);
  serve(number, now);
  return port.drained(now, held.priority);
}

void Net::serve(int number, Time now) {
  Port& port = ports_[static_cast<std::size_t>(number)];
  const bool was_empty = port.empty();
  const Time free = port.start(now);
  if (free == kNever) return;
  agenda_.add(free, LineFree, number);
  if (was_empty && !port.empty()) agenda_.add(port.next(), Arrival, number);
}

void Net::line_free(int number, Time now) {
  const Held left = ports_[static_cast<std::size_t>(number)].finish();
  if (left.packet.lane() == rdma::Lane::Lossless && pauses_.counts(left.from)) {
    tell(left.from, pauses_.release(left.from, left.packet.frame_bytes), now);
  }
  serve(number, now);
  if (left.packet.connection < 0) return;  // a guest's
  Connection& connection = at(left.packet.connection);
  if (left.from >= 0 || !connection.rdma || left.packet.is_ack) return;
  connection.rdma->sender.departed(now);
  settle(connection, left.packet.connection, now);
}

void Net::tell(int number, std::optional<bool> pause, Time now) {
  if (!pause) return;
  const Duration way = ports_[static_cast<std::size_t>(number)].settings().delay;
  agenda_.add(now + time_of(way), *pause ? Pause : GoOn, number);
}

}  // namespace tw::netsim
