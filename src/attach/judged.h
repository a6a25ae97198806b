// SPDX-License-Identifier: Apache-2.0
// What a job's connections and devices did while they were watched, and what that says.
//
// TCP itself knows why it does not send: nothing to send (the rank computes or waits), the peer's window is full (the peer
// does not read: it is late), its own buffer is full, or the network takes no more. The shares of time decide.
//
// Limits: sockets alone; what RDMA moves shows in its ports' counters only. A peer that does not read may itself wait for a third.

#pragma once

#include "trainwire/attach/processes.h"
#include "trainwire/attach/sockets.h"

#include <map>
#include <string>
#include <vector>

namespace tw::attach {

struct Sample {
  double time_s = 0;
  std::map<std::string, DeviceBytes> devices = {};  ///< since they were made
};

struct Watched {
  double seconds = 0;
  std::vector<Connection> before = {};
  std::vector<Connection> after =
      {};  ///< the last state of each; also of those that were closed meanwhile
  std::vector<Sample> samples = {};  ///< in order
};

/// All connections to one peer together, while they were watched.
struct Peer {
  std::string address = {};
  std::size_t connections = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_segments = 0;
  std::uint64_t sent_again = 0;
  double round_trip_s = 0;        ///< largest
  double least_round_trip_s = 0;  ///< smallest
  double busy_s = 0;              ///< of the busiest connection, as those below
  double peer_limited_s = 0;
  double buffer_limited_s = 0;
};

struct Device {
  std::string name = {};
  double sent_bps = 0;
  double received_bps = 0;
  double peak_sent_bps = 0;  ///< between two samples
};

struct Judged {
  std::vector<Peer> peers = {};  ///< by bytes, most first
  std::vector<Device> devices = {};
  std::string cause = {};  ///< compute, late_peer, network, loss, silent
  std::string where = {};
  double confidence = 0;
  std::string text = {};
};

Judged judged(const Watched& watched);

}  // namespace tw::attach
