// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/captures.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/sink.h"
#include "trainwire/medium/rdma.h"
#include "trainwire/network/plan.h"
#include "trainwire/sim/group_connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tw::sim {
namespace {

constexpr std::int64_t kBegin_ns = 946'684'800'000'000'000;
constexpr int kFirstPort = 10'000;
constexpr int kPorts = 50'000;
constexpr std::uint16_t kListening = 7'777;
constexpr std::uint8_t kWindowScale = 14;
constexpr std::uint8_t kMarkable = 2;
constexpr std::uint8_t kMarked = 3;
/// Packets are kept so long for connections that were opened before; longer round trips than that
/// are opened in less.
constexpr Duration kKept = std::chrono::milliseconds(100);

/// Who sends it is who opened the conversation.
bool goes_forth(const Captures::Sight& sight) { return sight.is_answer == sight.packet.is_ack; }

int sender_of(const Captures::Sight& sight) { return sight.packet.is_ack ? sight.to : sight.from; }
int receiver_of(const Captures::Sight& sight) {
  return sight.packet.is_ack ? sight.from : sight.to;
}

std::uint8_t flags_of(const netsim::Packet& packet) {
  return static_cast<std::uint8_t>(packet::kAck | (packet.echoes_mark ? packet::kEce : 0) |
                                   (packet.window_reduced ? packet::kCwr : 0));
}

}  // namespace

Captures::Captures(const spec::Experiment& experiment, const std::string& folder)
    : network_(experiment.network),
      snaplen_(static_cast<std::uint32_t>(*experiment.capture.snaplen)),
      segment_bytes_(static_cast<std::uint16_t>(*experiment.network.mtu - 40)) {
  for (const spec::Job& job : experiment.jobs) {
    if (uses_groups(job)) {
      throw SpecError(fmt::format(
          "job {}: captures of simulations show tcp, not sums of switches or multicast; leave out "
          "--pcap, or set aggregation = \"host\" and distribution = \"unicast\"",
          *job.name));
    }
    if (medium::manner_of(job) != medium::Manner::Rdma) continue;
    throw SpecError(fmt::format(
        "job {}: captures of simulations show tcp, not rdma; leave out --pcap, or set transport = "
        "\"tcp\" (--set job.transport=tcp)",
        *job.name));
  }
  for (const network::HostPlan& host : network::make_plan(experiment).hosts) {
    capture::WriterOptions options{.format = capture::FileFormat::Pcap};
    options.interfaces[0].snaplen = snaplen_;
    hosts_.push_back(
        {.address = packet::parse_address(host.address),
         .writer = capture::Writer(capture::file_sink(fmt::format("{}/{}.pcap", folder, host.name)),
                                   options)});
  }
}

void Captures::take(const Sight& sight) {
  const bool is_new = !sight.packet.is_datagram && open_.insert(sight.conversation).second;
  if (is_new) open(sight);
  add(sight, flags_of(sight.packet));
}

void Captures::add(const Sight& sight, std::uint8_t flags) {
  Host& seen_at = host(sight.out ? sender_of(sight) : receiver_of(sight));
  seen_at.waiting.push({.number = number_++, .sight = sight, .flags = flags});
  // What comes is told when it does, so nothing earlier is told any more but what is opened.
  if (!sight.out) write_until(seen_at, sight.at - netsim::time_of(kKept));
}

/// SYN, SYN and ACK, ACK, in the captures of both hosts. REQUIRES: `first` is data that leave.
void Captures::open(const Sight& first) {
  const netsim::Time trip = round_trip(first.from, first.to);
  Sight sight = first;
  sight.packet = {.connection = first.packet.connection,
                  .sent_ms = first.packet.sent_ms,
                  .echo_ms = first.packet.sent_ms};
  const auto pass = [&](netsim::Time leaves, bool answers, std::uint8_t flags) {
    sight.packet.is_ack = answers;
    for (const bool out : {true, false}) {
      sight.out = out;
      sight.at = leaves + (out ? 0 : trip / 2);
      add(sight, flags);
    }
  };
  pass(first.at - trip, false, packet::kSyn);
  pass(first.at - trip + trip / 2, true, packet::kSyn | packet::kAck);
  pass(first.at, false, packet::kAck);
}

/// Without queues.
netsim::Time Captures::round_trip(int from, int to) const {
  Duration way = {};
  for (const int port : network_.path(from, to)) way += network_.request(port).delay;
  for (const int port : network_.path(to, from)) way += network_.request(port).delay;
  return netsim::time_of(std::min(way, kKept));
}

void Captures::write_until(Host& host, netsim::Time at) {
  while (!host.waiting.empty() && host.waiting.top().sight.at <= at) {
    write(host, host.waiting.top());
    host.waiting.pop();
  }
}

packet::TcpHeader Captures::header_of(Host& host, const Waiting& waiting) {
  const Sight& sight = waiting.sight;
  const netsim::Packet& packet = sight.packet;
  Told& told = host.conversations[sight.conversation][goes_forth(sight) ? 0 : 1];
  // Numbers begin with 1: one is spent on opening the connection.
  const auto byte = static_cast<std::uint32_t>(packet.byte + 1);
  packet::TcpHeader header{
      .flags = waiting.flags,
      .timestamps = packet::TcpTimestamps{.value = packet.sent_ms, .echo = packet.echo_ms}};
  if ((waiting.flags & packet::kSyn) != 0) return header;
  if (packet.is_ack) {
    told.acknowledged = byte;
  } else if (packet.payload_bytes > 0) {
    const std::uint32_t end = byte + static_cast<std::uint32_t>(packet.payload_bytes);
    if (static_cast<std::int32_t>(end - told.next) > 0) told.next = end;
  }
  header.sequence = packet.is_ack || packet.payload_bytes == 0 ? told.next : byte;
  header.acknowledgement = told.acknowledged;
  return header;
}

void Captures::write(Host& host_of_it, const Waiting& waiting) {
  const Sight& sight = waiting.sight;
  const netsim::Packet& packet = sight.packet;
  const auto port = static_cast<std::uint16_t>(kFirstPort + sight.conversation % kPorts);
  packet::FrameSpec spec{
      .source = host(sender_of(sight)).address,
      .destination = host(receiver_of(sight)).address,
      .source_port = goes_forth(sight) ? port : kListening,
      .destination_port = goes_forth(sight) ? kListening : port,
      .transport = packet.is_datagram ? packet::Transport::Udp : packet::Transport::Tcp,
      .payload_bytes = static_cast<std::uint32_t>(packet.payload_bytes),
      .snaplen = snaplen_};
  if (!packet.is_datagram) spec.tcp = header_of(host_of_it, waiting);
  if ((waiting.flags & packet::kSyn) != 0) {
    spec.tcp.acknowledgement = packet.is_ack ? 1 : 0;
    spec.tcp.segment_bytes = segment_bytes_;
    spec.tcp.window_scale = kWindowScale;
  }
  if (packet.can_be_marked) spec.ecn = packet.marked ? kMarked : kMarkable;
  const packet::Frame frame = packet::make_frame(spec);
  host_of_it.writer.write({.bytes = frame.bytes,
                           .original_bytes = frame.original_bytes,
                           .time_ns = kBegin_ns + netsim::duration_of(sight.at).count(),
                           .interface = 0,
                           .link = packet::Link::Ethernet});
}

void Captures::finish() {
  for (Host& each : hosts_) {
    write_until(each, std::numeric_limits<netsim::Time>::max());
    each.writer.finish();
  }
}

}  // namespace tw::sim
