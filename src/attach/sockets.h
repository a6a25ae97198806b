// SPDX-License-Identifier: Apache-2.0
// What TCP knows of each connection in a network namespace, by sock_diag netlink: what `ss -ti` shows.
//
// Times that a connection had something to send, and of these when its peer's window or its own buffer was the limit, are
// since it was made (kernel 4.10 and later; 0 before).

#pragma once

#include "trainwire/os/netlink.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tw::attach {

struct Connection {
  std::uint64_t inode = 0;
  std::string local = {};  ///< address, without port
  std::string remote = {};
  std::uint16_t local_port = 0;
  std::uint16_t remote_port = 0;
  std::uint64_t sent_bytes = 0;  ///< acknowledged
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_segments = 0;
  std::uint64_t sent_again = 0;  ///< segments
  double round_trip_s = 0;       ///< smoothed
  double least_round_trip_s = 0;
  double delivery_bps = 0;      ///< latest
  double busy_s = 0;            ///< had something to send
  double peer_limited_s = 0;    ///< of these: the peer's window was full
  double buffer_limited_s = 0;  ///< of these: its own send buffer was
};

/// A socket for it in the namespace of a process, or of the caller for 0. Throws SystemError.
os::NetlinkSocket open_diagnosis(int process);

/// Established connections of IPv4 and IPv6. Throws SystemError.
std::vector<Connection> connections(os::NetlinkSocket& diagnosis);

/// Devices of the calling thread's namespace by their addresses, the loopback's too; those that are down are left out. Throws SystemError.
std::map<std::string, std::string> devices_by_address();

/// Over which of these devices the connections go: the loopback where both ends are here.
std::set<std::string> devices_of(const std::vector<Connection>& connections,
                                 const std::map<std::string, std::string>& by_address);

}  // namespace tw::attach
