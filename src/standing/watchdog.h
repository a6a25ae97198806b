// SPDX-License-Identifier: Apache-2.0
// What PyTorch's watchdog prints when a collective does not end: where each rank stands in each process group.
//
// Understood are lines of PyTorch 1.13 to 2.9: "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=..", "detected by watchdog
// at work: ..", "failure detected by watchdog at work sequence id: .. PG status: ..", "Timeout at NCCL work: ..", and "Received a dump signal
// .. Last enqueued NCCL work: 21, last completed NCCL work: 21", which is how a rank that did not come says so.
//
// Limits: how many ranks a group has is not told; of the group of all ranks it is at least the highest that is named, and one.

#pragma once

#include "trainwire/operations/told.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::standing {

/// Whether PyTorch's watchdog, or its checks of collectives (TORCH_DISTRIBUTED_DEBUG=DETAIL), say in it where a rank stands.
bool is_of_watchdog(std::string_view line);

/// Takes lines one by one.
class Watchdog {
 public:
  /// False when it is none of the watchdog's.
  bool line(std::string_view text);
  /// Adds what ranks stand in, and of ranks that stand in nothing their last collective.
  void finish(std::vector<operations::Operation>& operations);

  std::uint64_t used() const { return used_; }
  /// Lines that name no rank or no collective.
  std::uint64_t unclear() const { return unclear_; }

 private:
  /// Of one rank in one process group.
  struct Place {
    std::optional<std::int64_t> stuck = {};  ///< the first collective that did not end
    std::optional<std::int64_t> enqueued = {};
    std::optional<std::int64_t> completed = {};
  };
  /// Of one collective that a rank stands in, in a line that seldom names the group.
  struct Work {
    int rank = 0;
    std::int64_t sequence = 0;
    std::string op = {};
    std::string group = {};
    std::optional<std::int64_t> elements = {};
  };

  bool take(std::string_view text);
  bool took_work(std::string_view text, int rank);
  bool took_mismatch(std::string_view text);
  bool took_place(std::string_view text, int rank);
  std::string group_of(const Work& work) const;
  void put(const std::string& group, int rank, const Place& place, const std::vector<Work>& works,
           std::vector<operations::Operation>& into) const;
  int size_of(const std::string& group) const;

  std::map<std::pair<std::string, int>, Place> places_;  ///< by group and rank
  std::vector<Work> works_;
  std::string torn_;  ///< the beginning of a line
  int highest_ = -1;  ///< rank
  std::uint64_t used_ = 0;
  std::uint64_t unclear_ = 0;
};

}  // namespace tw::standing
