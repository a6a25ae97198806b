// SPDX-License-Identifier: Apache-2.0
// Whose a connection is: which TCP sockets the processes of each job have, by /proc. Programs that
// trainwire did not write do not tell where they listen; several jobs on one host would otherwise
// be one in the packets.
//
// Limits: a connection that lives shorter than the time between two looks is nobody's. Processes
// that left their job's tree (daemons) are nobody's. IPv4 and IPv6 TCP only.

#pragma once

#include "trainwire/transport/tcp/address.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::programs {

/// One line of /proc/PID/net/tcp or tcp6.
struct SocketLine {
  std::string address = {};  ///< local, as packets have it
  std::uint16_t port = 0;
  std::uint64_t inode = 0;
};
/// Listening sockets of every address, loopback and sockets of nobody are left out, as are lines
/// that are none.
std::vector<SocketLine> parse_sockets(std::string_view text);

class Sockets {
 public:
  explicit Sockets(std::size_t jobs) : endpoints_(jobs) {}

  /// The first process of a rank.
  void add(std::size_t job, pid_t process) { roots_[process] = job; }
  /// Takes what there is now.
  void look();
  /// By job; an endpoint that several jobs had, one after the other, is nobody's.
  std::vector<std::vector<transport::tcp::Endpoint>> endpoints() const;

 private:
  std::map<pid_t, std::size_t> roots_;
  std::vector<std::set<std::pair<std::string, std::uint16_t>>> endpoints_;
};

}  // namespace tw::programs
