// SPDX-License-Identifier: Apache-2.0
// What a capture on every host would have shown of a simulation packet by packet: host0.pcap and so
// on, as `run` keeps them, each with what the host sends, when it has left the line, and gets.
//
// Two connections that go to and fro between two ranks are one in a capture, as they are in `run`:
// data carry the newest acknowledgement of the other direction. A connection is opened one round trip
// (without queues) before its first data.
//
// Limits: acknowledgements are packets of their own; selective ones are told apart by nothing;
// connections are not closed; times begin with the year 2000.

#pragma once

#include "trainwire/capture/writer.h"
#include "trainwire/medium/packet_network.h"
#include "trainwire/network/network.h"
#include "trainwire/packet/address.h"
#include "trainwire/packet/frame.h"
#include "trainwire/spec/experiment.h"

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tw::sim {

class Captures {
 public:
  using Sight = medium::PacketNetwork::Sight;

  /// Throws SpecError for more hosts than can have an address and for RDMA, SystemError.
  Captures(const spec::Experiment& experiment, const std::string& folder);

  void take(const Sight& sight);
  /// Everything is stored afterwards; the last call. Throws SystemError.
  void finish();

 private:
  struct Waiting {
    std::uint64_t number = 0;
    Sight sight = {};
    std::uint8_t flags = packet::kAck;
    bool operator>(const Waiting& other) const {
      return sight.at != other.sight.at ? sight.at > other.sight.at : number > other.number;
    }
  };
  /// One direction of a conversation as far as a host has seen it.
  struct Told {
    std::uint32_t next = 1;          ///< sequence number behind all data
    std::uint32_t acknowledged = 1;  ///< of the other direction
  };
  /// Packets are told before they leave: they wait here until no earlier one can come.
  struct Host {
    packet::Address address;
    capture::Writer writer;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting = {};
    std::unordered_map<int, std::array<Told, 2>> conversations = {};  ///< to, and fro
  };

  Host& host(int number) { return hosts_[static_cast<std::size_t>(number)]; }
  void open(const Sight& first);
  void add(const Sight& sight, std::uint8_t flags);
  netsim::Time round_trip(int from, int to) const;
  static packet::TcpHeader header_of(Host& host, const Waiting& waiting);
  void write_until(Host& host, netsim::Time at);
  void write(Host& host, const Waiting& waiting);

  network::Network network_;
  std::vector<Host> hosts_;
  std::unordered_set<int> open_;  ///< conversations
  std::uint32_t snaplen_;
  std::uint16_t segment_bytes_;
  std::uint64_t number_ = 0;
};

}  // namespace tw::sim
