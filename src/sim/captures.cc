// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/captures.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/sink.h"
#include "trainwire/medium/rdma.h"
#include "trainwire/network/plan.h"
#include "trainwire/packet/frame.h"
#include "trainwire/sim/group_connections.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace tw::sim {
namespace {

constexpr std::int64_t kBegin_ns = 946'684'800'000'000'000;
constexpr int kFirstPort = 10'000;
constexpr int kPorts = 50'000;
constexpr std::uint16_t kListening = 7'777;
constexpr std::uint8_t kMarkable = 2;
constexpr std::uint8_t kMarked = 3;

std::uint16_t port_of(const netsim::Packet& packet) {
  return static_cast<std::uint16_t>(kFirstPort + packet.connection % kPorts);
}

packet::TcpHeader header_of(const netsim::Packet& packet) {
  // Numbers begin with 1, as if one had been spent on opening the connection.
  const auto byte = static_cast<std::uint32_t>(packet.byte + 1);
  return {.sequence = packet.is_ack ? 1 : byte,
          .acknowledgement = packet.is_ack ? byte : 1,
          .timestamps = packet::TcpTimestamps{.value = packet.sent_ms, .echo = packet.echo_ms}};
}

}  // namespace

Captures::Captures(const spec::Experiment& experiment, const std::string& folder)
    : snaplen_(static_cast<std::uint32_t>(*experiment.capture.snaplen)) {
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

void Captures::take(const netsim::Packet& packet, int from, int to, bool out, netsim::Time at) {
  const bool at_sender = out != packet.is_ack;
  Host& host = hosts_[static_cast<std::size_t>(at_sender ? from : to)];
  host.waiting.push({.at = at, .number = number_++, .packet = packet, .from = from, .to = to});
  // What comes is told when it does, so nothing earlier is told any more.
  if (!out) write_until(host, at);
}

void Captures::write_until(Host& host, netsim::Time at) {
  while (!host.waiting.empty() && host.waiting.top().at <= at) {
    write(host, host.waiting.top());
    host.waiting.pop();
  }
}

void Captures::write(Host& host, const Seen& seen) {
  const netsim::Packet& packet = seen.packet;
  const Host& sender = hosts_[static_cast<std::size_t>(packet.is_ack ? seen.to : seen.from)];
  const Host& receiver = hosts_[static_cast<std::size_t>(packet.is_ack ? seen.from : seen.to)];
  packet::FrameSpec spec{
      .source = sender.address,
      .destination = receiver.address,
      .source_port = packet.is_ack ? kListening : port_of(packet),
      .destination_port = packet.is_ack ? port_of(packet) : kListening,
      .transport = packet.is_datagram ? packet::Transport::Udp : packet::Transport::Tcp,
      .tcp = header_of(packet),
      .payload_bytes = static_cast<std::uint32_t>(packet.payload_bytes),
      .snaplen = snaplen_};
  if (packet.can_be_marked) spec.ecn = packet.marked ? kMarked : kMarkable;
  const packet::Frame frame = packet::make_frame(spec);
  host.writer.write({.bytes = frame.bytes,
                     .original_bytes = frame.original_bytes,
                     .time_ns = kBegin_ns + netsim::duration_of(seen.at).count(),
                     .interface = 0,
                     .link = packet::Link::Ethernet});
}

void Captures::finish() {
  for (Host& host : hosts_) {
    write_until(host, std::numeric_limits<netsim::Time>::max());
    host.writer.finish();
  }
}

}  // namespace tw::sim
