// SPDX-License-Identifier: Apache-2.0
// What one file of another program tells, as its reader leaves it: operations, steps, and how NCCL
// has wired its ranks; with how many of its records were used, and why others were not.

#pragma once

#include "trainwire/operations/operation.h"
#include "trainwire/record/captured.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::operations {

/// Half-open, in nanoseconds.
struct Span {
  std::int64_t start_ns;
  std::int64_t end_ns;
  bool operator==(const Span&) const = default;
};

struct Step {
  std::optional<int> rank = {};
  std::int64_t number = 0;
  std::optional<std::int64_t> start_ns = {};  ///< since 1970, where the file says
  std::int64_t duration_ns = 0;
  bool is_shared =
      false;  ///< part of the average that the step before it begins, or as long as others for want of a start
  bool operator==(const Step&) const = default;
};

/// How a rank sends to another on one channel: "NET/Socket/0", "P2P/IPC", "NET/IB/1/GDRDMA".
struct Way {
  int from = 0;
  int to = 0;
  int channel = 0;
  std::string transport = {};
  bool operator==(const Way&) const = default;
};

/// What an NCCL log says beside operations.
struct Wiring {
  std::string version = {};                                    ///< "2.28.9"
  std::string network = {};                                    ///< "Socket", "IB", "AWS Libfabric"
  std::map<std::string, std::set<std::string>> networks = {};  ///< hosts by the network they use
  /// NICs that NCCL took, by what takes them: "NET/IB" has "mlx5_0", "NET/Socket" has "eth0".
  std::map<std::string, std::set<std::string>> devices = {};
  std::vector<std::string> other_nics = {};    ///< RDMA NICs that it mentions and did not take
  std::map<int, std::string> hosts = {};       ///< of ranks of the largest communicator
  std::map<int, std::vector<int>> rings = {};  ///< by channel, of that communicator: ranks in order
  std::vector<std::pair<int, int>> tree_edges = {};  ///< channel 0: child, parent
  std::vector<Way> ways = {};
  int ranks = 0;     ///< of that communicator
  int channels = 0;  ///< for collectives
  int sockets = 0;   ///< of NET/Socket beside the one that each channel has anyway
  std::map<std::string, std::string> addresses = {};  ///< of hosts, as sockets use them
  std::map<std::string, std::string> settings = {};   ///< NCCL_X set by the environment
  std::vector<std::string> warnings = {};             ///< NCCL WARN, each once
  bool empty() const {
    return version.empty() && network.empty() && ranks == 0 && ways.empty() && warnings.empty() &&
           hosts.empty();
  }
};

/// Who was last to be ready for what was exchanged, as a timeline of Horovod tells it. Sums over tensors.
struct Readiness {
  int rank = 0;
  double late_s = 0;    ///< after the one before it
  double share = 0;     ///< of what all last ones are late
  double waited_s = 0;  ///< from the first that was ready to the last
  double moved_s = 0;   ///< exchanging
};

/// Tensors that Horovod names because ranks did not come to them.
struct Stall {
  std::map<int, std::size_t> tensors = {};  ///< how many, by rank that is missing
  std::string first = {};                   ///< name
};

struct Told {
  std::string path = {};
  std::string kind = {};
  std::uint64_t records = 0;
  std::uint64_t skipped = 0;
  std::vector<std::string> reasons = {};
  std::optional<int> rank = {};
  bool is_cut_off = false;  ///< a trace that ends in the middle: of what it lacks nothing is known
  int world_size = 0;       ///< ranks of the job; 0 where it is not told
  std::vector<Operation> operations = {};
  std::vector<Step> steps = {};
  std::vector<Span> computing = {};  ///< of the device, without NCCL; disjoint, in order
  Wiring wiring = {};
  std::vector<record::Pair> pairs = {};  ///< of flow records: each direction once, by addresses
  std::vector<std::string> notes = {};   ///< sentences worth a finding
  std::optional<Readiness> readiness = {};
  std::optional<Stall> stall = {};
  std::int64_t clock_offset_ns = 0;  ///< taken from its times by one_clock
  std::optional<std::int64_t> clock_uncertainty_ns = {};
};

/// Counts a record that was not used under its reason.
class Skips {
 public:
  void add(std::string_view why) { ++counts_[std::string(why)]; }
  /// Into `told`, "3 lines without a size".
  void write_to(Told& told) const;

 private:
  std::map<std::string, std::uint64_t> counts_;
};

/// Of several traces, or dumps, of one rank: a profiler that records now and then writes one file each time, and some files are
/// given twice. What files of a kind and rank tell of different times is put into the first of them. Of those that tell of the same time only
/// the one that tells most keeps its operations, and the others get a note.
void join_same_rank(std::vector<Told>& told);

}  // namespace tw::operations
