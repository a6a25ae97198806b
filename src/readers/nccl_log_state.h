// SPDX-License-Identifier: Apache-2.0
// What has been read of a log of NCCL so far: nccl_wiring.cc fills how ranks are joined, nccl_log.cc what they do.

#pragma once

#include "trainwire/base/words.h"
#include "trainwire/operations/told.h"
#include "trainwire/readers/nccl_lines.h"
#include "trainwire/readers/nccl_log.h"
#include "trainwire/standing/stalls.h"
#include "trainwire/standing/watchdog.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace tw::readers {

/// A communicator as one rank has it.
struct Communicator {
  std::optional<int> rank = {};
  int ranks = 0;
  std::string id = {};  ///< commId: the same for all ranks
  int order = 0;        ///< which of its GPU, of that many ranks, for logs without commId
};

/// Where an operation waits for the line that says its algorithm.
struct Waiting {
  std::string process;
  std::string op;
  std::int64_t stated_bytes;
  std::size_t index;
};

/// What was said by ranks whose communicator is not known by name: by channel.
struct Drawn {
  std::map<int, std::vector<int>> rings = {};
  std::map<int, std::map<int, int>> next = {};  ///< channel: rank to the next one
  std::vector<std::pair<int, int>> edges = {};
  int channels = 0;  ///< as the log counts them, of which it may not tell each
};

/// Communicators of one GPU and number of ranks, in the order in which they are first told of.
struct Side {
  int number = 0;                          ///< of the GPU in the log, from 1
  std::map<std::string, int> orders = {};  ///< by pointer
};

struct NcclLog::State {
  std::map<std::tuple<std::string, std::string, int>, Side> sides;  ///< process, device, ranks
  std::map<std::pair<std::string, std::string>, int> devices_seen;  ///< process, device: number
  std::map<std::string, std::map<std::string, Communicator>> communicators;  ///< process, pointer
  std::map<std::string, std::string> host_of;                                ///< process
  std::vector<operations::Operation> operations;
  std::vector<Waiting> waiting;
  std::map<int, Drawn> drawn;  ///< by number of ranks of the ring; 0: not yet known
  operations::Wiring wiring;
  std::map<int, std::set<std::string>> hosts_of_ways;  ///< by rank
  std::vector<operations::Way> received;               ///< ways as the receiving ends tell them
  std::set<std::string> mentioned;
  operations::Skips skips;
  std::uint64_t lines = 0;
  std::uint64_t used = 0;
  standing::Watchdog watchdog;
  standing::Stalls stalls;
  bool has_no_ib = false;      ///< "NET/IB : No device found."
  bool has_old_sizes = false;  ///< TUNING tells the large side, as before 2.21

  void take(const NcclLine& line);
  bool communicator(const NcclLine& line);
  bool took_rank(const NcclLine& line);
  void put_rank(int rank, int ranks, const std::string& host);
  bool took_order(Words words);
  bool ring(const NcclLine& line);
  bool tree(const NcclLine& line);
  bool way(const NcclLine& line);
  bool network(const NcclLine& line);
  bool took_devices(const NcclLine& line);
  bool took_sockets(std::string_view text);
  bool collective(const NcclLine& line);
  bool tuning(const NcclLine& line);
  Side& side_of(const NcclLine& line, int ranks, const std::string& pointer);
  const Communicator* find(const std::string& process, std::string_view pointer) const;
  void close_ways();
  void close_hosts();
  void close_rings();
  void close_network();
};

/// Whether a NIC of that name does RDMA.
bool is_rdma_name(std::string_view name);

}  // namespace tw::readers
