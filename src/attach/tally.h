// SPDX-License-Identifier: Apache-2.0
// What a job's connections and devices did since they are watched, as running sums: however long that is, memory stays the same.
//
// Of several connections of one way (between two addresses) TCP's times are those of the busiest, look by look; bytes and segments are of all.

#pragma once

#include "trainwire/attach/processes.h"
#include "trainwire/attach/sockets.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tw::attach {

/// All connections between two addresses together.
struct Way {
  std::uint64_t connections = 0;  ///< at the last look
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_segments = 0;
  std::uint64_t sent_again = 0;   ///< segments
  double round_trip_s = 0;        ///< largest, at the last look that saw a connection
  double least_round_trip_s = 0;  ///< smallest that TCP knows
  double busy_s = 0;              ///< had something to send
  double peer_limited_s = 0;      ///< of these: the peer's window was full
  double buffer_limited_s = 0;    ///< of these: its own send buffer was
};

struct Device {
  DeviceCounts counts = {};
  double rate_bps = 0;       ///< of its link; 0 where it is not known
  double peak_sent_bps = 0;  ///< between two samples
  double active_s = 0;  ///< sent or received a twentieth of its rate at least, where that is known
  double full_s = 0;    ///< four fifths
};

/// From some moment on.
struct Sums {
  double seconds = 0;
  std::map<std::pair<std::string, std::string>, Way> ways = {};  ///< by local and remote address
  std::map<std::string, Device> devices = {};
  std::map<std::string, std::uint64_t> rdma = {};  ///< rdma_counters
  std::size_t closed = 0;  ///< processes of the job that may not be looked into
};

/// What happened between the two. Peaks are those of `after`.
Sums difference(const Sums& after, const Sums& before);

class Tally {
 public:
  /// Ways beyond this many are one, of no address.
  static constexpr std::size_t kMostWays = 1024;

  /// Connections as they are now; what one had counted when it was first seen does not count, unless it was made meanwhile.
  void look(const std::vector<Connection>& now);
  /// `rates` are known ones, in bit/s.
  void sample(double time_s, const Devices& now, const std::map<std::string, double>& rates);
  void rdma(const std::map<std::string, std::uint64_t>& now);
  /// Peaks begin anew.
  void forget_peaks();

  const Sums& sums() const { return sums_; }

 private:
  using Key = std::tuple<std::uint64_t, std::uint16_t, std::uint16_t>;
  Way& way_of(const Connection& connection);

  Sums sums_;
  bool has_looked_ = false;
  std::map<Key, Connection> last_look_;
  Devices last_devices_;
  std::map<std::string, std::uint64_t> last_rdma_;
};

}  // namespace tw::attach
