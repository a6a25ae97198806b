// SPDX-License-Identifier: Apache-2.0
// What a capture on every host would have shown of a simulation packet by packet: host0.pcap and so
// on, as `run` keeps them, each with what the host sends, when it has left the line, and gets.
//
// Limits: connections are open when it begins, each direction is one of its own; selective
// acknowledgements are told apart by nothing; times begin with the year 2000.

#pragma once

#include "trainwire/capture/writer.h"
#include "trainwire/netsim/packet.h"
#include "trainwire/packet/address.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <vector>

namespace tw::sim {

class Captures {
 public:
  /// Throws SpecError for more hosts than can have an address and for RDMA, SystemError.
  Captures(const spec::Experiment& experiment, const std::string& folder);

  /// As PacketNetwork::Seen tells it.
  void take(const netsim::Packet& packet, int from, int to, bool out, netsim::Time at);
  /// Everything is stored afterwards; the last call. Throws SystemError.
  void finish();

 private:
  struct Seen {
    netsim::Time at = 0;
    std::uint64_t number = 0;
    netsim::Packet packet = {};
    int from = 0;  ///< hosts of the connection
    int to = 0;
    bool operator>(const Seen& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  /// Packets are told before they leave: they wait here until no earlier one can come.
  struct Host {
    packet::Address address;
    capture::Writer writer;
    std::priority_queue<Seen, std::vector<Seen>, std::greater<>> waiting = {};
  };

  void write_until(Host& host, netsim::Time at);
  void write(Host& host, const Seen& seen);

  std::vector<Host> hosts_;
  std::uint32_t snaplen_;
  std::uint64_t number_ = 0;
};

}  // namespace tw::sim
