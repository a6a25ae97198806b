// SPDX-License-Identifier: Apache-2.0
// When ranks came to their collectives, and how long the bytes took after the last had come.
//
// A collective cannot end before its last rank is there. What a rank spends in it before that is waiting, whoever is
// the cause; what it takes after that is transfer. So the rank that waits least is the one for which all wait.
//
// Parts of ranks are joined by sequence number where files have it, else by their order in the group. Clocks: ends of
// collectives in which all wait for all agree within the time of a last message, so that a file whose ends are off
// by more than that has another clock, and its times are moved (one_clock). Files of clock Process always have their own;
// one that shares too few collectives with the others to tell by how much is left out. Ends that are the further apart the longer collectives take
// are those of a slow way, and no clock's.
//
// Messages between two ranks are not joined: ranks of a group have different numbers of them, in another order.
//
// Limits: offsets under kOwnClock_ns are taken for what ends differ by anyway. Ranks whose files begin at another
// collective are joined by the shift with most equal sizes.

#pragma once

#include "trainwire/operations/told.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw::operations {

inline constexpr std::int64_t kOwnClock_ns = 2'000'000;

/// One rank in one collective.
struct Part {
  int rank;
  std::size_t file;  ///< in the list of what files told
  std::int64_t start_ns;
  std::int64_t end_ns;
};

/// One collective with the parts of at least two ranks.
struct Arrival {
  std::string group = {};
  std::string op = {};
  std::optional<std::int64_t> bytes = {};
  int group_size =
      0;  ///< as told, else of the job or of files: without it there is no bus bandwidth
  std::vector<Part> parts = {};  ///< by rank
  std::int64_t first_ns = 0;     ///< the first rank is there
  std::int64_t last_ns = 0;      ///< the last is
  std::int64_t end_ns = 0;       ///< the last is done
  int last_rank = 0;
  std::int64_t late_ns = 0;  ///< the last after the median of the others

  std::int64_t transfer_ns() const { return end_ns - last_ns; }
  double mean_wait_s() const;
};

/// Takes `by` from all times of a file that count from a moment.
void move_times(Told& told, std::int64_t by_ns);

/// Puts times of all files on the first's clock, and says in each what was done; then joins.
std::vector<Arrival> arrivals(std::vector<Told>& told);

}  // namespace tw::operations
