// SPDX-License-Identifier: Apache-2.0
// Bulk transfers over two hops in ns-3: ns3_bulk FLOWS BYTES RATE_BPS DELAY_S QUEUE_BYTES. A host, a switch and a host in a row; the
// flows share the bytes evenly and start together. TCP is set as Linux has it: CUBIC, SACK, segments of 1448 bytes, ten of them at
// first, an acknowledgement for every second. Prints one JSON object: simulated seconds until the last byte is there, packets
// sent over a link (acknowledgements too), packets dropped, events. In C++17, which is all that ns-3's headers bear.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Counters {
  std::uint64_t packet_hops = 0;
  std::uint64_t dropped = 0;
  std::uint64_t received_bytes = 0;
  double last_byte_s = 0;
};

Counters counters;  // ns-3's traces call plain functions

void count_hop(ns3::Ptr<const ns3::Packet> /*packet*/) { ++counters.packet_hops; }
void count_drop(ns3::Ptr<const ns3::Packet> /*packet*/) { ++counters.dropped; }

void count_received(ns3::Ptr<const ns3::Packet> packet, const ns3::Address& /*from*/) {
  counters.received_bytes += packet->GetSize();
  counters.last_byte_s = ns3::Simulator::Now().GetSeconds();
}

void set_tcp_as_linux() {
  ns3::Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                          ns3::TypeIdValue(ns3::TcpCubic::GetTypeId()));
  ns3::Config::SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(1448));
  ns3::Config::SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(10));
  ns3::Config::SetDefault("ns3::TcpSocket::DelAckCount", ns3::UintegerValue(2));
  ns3::Config::SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(4 << 20));
  ns3::Config::SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(6 << 20));
  ns3::Config::SetDefault("ns3::TcpSocketBase::MinRto", ns3::TimeValue(ns3::MilliSeconds(200)));
}

struct Line {
  std::uint64_t rate_bps;
  double delay_s;
  std::uint64_t queue_bytes;
};

/// Joins two nodes; nothing but the device's own drop-tail queue holds packets.
ns3::NetDeviceContainer join(const ns3::NodeContainer& ends, const Line& line, const char* subnet) {
  ns3::PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(line.rate_bps)));
  link.SetChannelAttribute("Delay", ns3::TimeValue(ns3::Seconds(line.delay_s)));
  link.SetQueue("ns3::DropTailQueue", "MaxSize",
                ns3::StringValue(std::to_string(line.queue_bytes) + "B"));
  const ns3::NetDeviceContainer devices = link.Install(ends);
  ns3::Ipv4AddressHelper(subnet, "255.255.255.0").Assign(devices);
  ns3::TrafficControlHelper().Uninstall(devices);
  for (std::uint32_t i = 0; i < devices.GetN(); ++i) {
    devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", ns3::MakeCallback(&count_hop));
    devices.Get(i)->TraceConnectWithoutContext("MacTxDrop", ns3::MakeCallback(&count_drop));
  }
  return devices;
}

void start_flow(const ns3::NodeContainer& nodes, std::uint16_t port, std::uint64_t bytes) {
  const ns3::Ipv4Address receiver =
      nodes.Get(2)->GetObject<ns3::Ipv4>()->GetAddress(1, 0).GetLocal();
  ns3::BulkSendHelper sender("ns3::TcpSocketFactory", ns3::InetSocketAddress(receiver, port));
  sender.SetAttribute("MaxBytes", ns3::UintegerValue(bytes));
  sender.SetAttribute("SendSize", ns3::UintegerValue(64 << 10));
  sender.Install(nodes.Get(0));
  ns3::PacketSinkHelper sink("ns3::TcpSocketFactory",
                             ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
  sink.Install(nodes.Get(2))
      .Get(0)
      ->TraceConnectWithoutContext("Rx", ns3::MakeCallback(&count_received));
}

void simulate(unsigned flows, std::uint64_t bytes, const Line& line) {
  ns3::NodeContainer nodes;
  nodes.Create(3);
  ns3::InternetStackHelper().Install(nodes);
  join({nodes.Get(0), nodes.Get(1)}, line, "10.0.1.0");
  join({nodes.Get(1), nodes.Get(2)}, line, "10.0.2.0");
  ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  for (unsigned flow = 0; flow < flows; ++flow)
    start_flow(nodes, static_cast<std::uint16_t>(5001 + flow), bytes / flows);
  ns3::Simulator::Stop(ns3::Seconds(600));
  ns3::Simulator::Run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("ns3_bulk: FLOWS BYTES RATE_BPS DELAY_S QUEUE_BYTES\n", stderr);
    return 2;
  }
  set_tcp_as_linux();
  simulate(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)),
           std::strtoull(argv[2], nullptr, 10),
           Line{std::strtoull(argv[3], nullptr, 10), std::strtod(argv[4], nullptr),
                std::strtoull(argv[5], nullptr, 10)});
  std::printf(
      "{\"seconds\": %.9f, \"bytes\": %llu, \"packet_hops\": %llu, \"dropped\": %llu, \"events\": "
      "%llu}\n",
      counters.last_byte_s, static_cast<unsigned long long>(counters.received_bytes),
      static_cast<unsigned long long>(counters.packet_hops),
      static_cast<unsigned long long>(counters.dropped),
      static_cast<unsigned long long>(ns3::Simulator::GetEventCount()));
  ns3::Simulator::Destroy();
}
