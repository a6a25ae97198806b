// SPDX-License-Identifier: Apache-2.0
// Ways between workers and servers, and whether ports between them have room for what workers and
// servers send.
//
// Hosts that reach others alike (lines.h) share ways but for their own port, so there are as many
// ways as kinds of workers times servers, and kinds of servers times workers, not workers times
// servers.
//
// Limits: one rank on a host.

#pragma once

#include "trainwire/regular/lines.h"
#include "trainwire/workload/training.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tw::regular {

class ServerWays {
 public:
  ServerWays(const workload::Training& training, const Physics& physics);

  int workers() const { return workers_; }
  int servers() const { return servers_; }
  /// Workers that reach servers alike.
  int worker_kinds() const { return worker_kinds_; }
  int kind_of_worker(int worker) const { return kind_of_worker_[at(worker)]; }
  int server_kinds() const { return server_kinds_; }
  int kind_of_server(int server) const { return kind_of_server_[at(server)]; }

  Duration to_server(int worker_kind, int server) const { return push(worker_kind, server).time; }
  Duration to_worker(int server_kind, int worker) const { return pull(server_kind, worker).time; }

  // Of ranks' own ports: bytes a second out of them and into them.
  double worker_out(int worker) const { return capacity(own_out_[at(worker)]); }
  double worker_in(int worker) const { return capacity(own_in_[at(worker)]); }
  double server_out(int server) const { return capacity(own_out_[at(workers_ + server)]); }
  double server_in(int server) const { return capacity(own_in_[at(workers_ + server)]); }

  /// Bytes a second: of all workers of a kind to a server, and of all servers of a kind to a worker.
  struct Rates {
    std::function<double(int worker_kind, int server)> pushed;
    std::function<double(int server_kind, int worker)> pulled;
  };
  /// Whether no port but ranks' own has more than it carries.
  bool has_room(const Rates& rates);
  /// Adds what goes over ports when rates count bytes, but for those by which it is sent.
  void add_bytes(const Rates& bytes, std::vector<double>& ports) const;
  /// Adds what goes over those.
  void add_sent(const std::function<double(int rank)>& bytes, std::vector<double>& ports) const;

 private:
  struct Way {
    Duration time = {};
    std::uint32_t first = 0;  ///< in ports_
    std::uint32_t count = 0;  ///< without ranks' own
  };
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  double capacity(int port) const { return capacities_[at(port)]; }
  const Way& push(int kind, int server) const { return pushes_[at(kind * servers_ + server)]; }
  const Way& pull(int kind, int worker) const {
    return pulls_[at(kind) * at(workers_) + at(worker)];
  }
  Way add_way(const Line& line);
  std::span<const int> between(const Way& way) const {
    return std::span<const int>(ports_).subspan(way.first, way.count);
  }

  int workers_;
  int servers_;
  int worker_kinds_ = 0;
  int server_kinds_ = 0;
  std::vector<int> kind_of_worker_ = {};
  std::vector<int> kind_of_server_ = {};
  std::vector<Way> pushes_ = {};  ///< by kind of worker and server
  std::vector<Way> pulls_ = {};   ///< by kind of server and worker
  std::vector<int> ports_ = {};
  std::vector<int> own_out_ = {};  ///< by rank
  std::vector<int> own_in_ = {};
  std::vector<double> capacities_ = {};  ///< by port
  std::vector<double> loads_ = {};       ///< likewise, while they are summed up
};

}  // namespace tw::regular
