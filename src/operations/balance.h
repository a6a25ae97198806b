// SPDX-License-Identifier: Apache-2.0
// Where ranks' time goes, by when they came to their collectives: waiting, transfer, overlap; and who is last.

#pragma once

#include "trainwire/operations/arrivals.h"
#include "trainwire/operations/lateness.h"
#include "trainwire/operations/told.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::operations {

/// Of a step where steps are known, else of the whole time; means over ranks. Collectives that not all files tell of, and
/// their share of the steps, are left out: where ranks recorded different steps, only common ones count.
struct Balance {
  std::uint64_t collectives = 0;
  std::uint64_t ranks = 0;      ///< with times
  int without_file = 0;         ///< ranks of a group, at most, that gave no times
  int group_size = 0;           ///< of that group
  std::uint64_t steps = 0;      ///< that the times below are of one of; 0: of all the time there is
  double step_s = 0;            ///< median step, or all the time
  bool is_mean_step = false;    ///< not the median: a rank is late in some steps only
  double in_collectives_s = 0;  ///< of a rank
  double hidden_s = 0;          ///< of these, while its device computed
  double wait_s = 0;            ///< for the last rank
  double exposed_wait_s = 0;    ///< of this, what computing does not hide
  double transfer_s = 0;        ///< after it
  double typical_skew_s = 0;    ///< median of last after first arrival
  std::optional<double> busbw_bps = {};  ///< by transfer, of what waits for all
  std::optional<Late> late = {};         ///< nobody where lateness is spread
  std::vector<int> late_in_turn = {};  ///< two or three ranks whose lateness together is most of it
  /// Not hidden, in messages and in groups of one file: waiting or transfer, it is not told which.
  double apart_s = 0;
  double exposed_s() const { return in_collectives_s - hidden_s; }
};

/// Whether the late rank is so in most steps, as far as it is told.
bool is_late_in_each(const Balance& balance);

/// Nothing without arrivals.
std::optional<Balance> balance_of(const std::vector<Arrival>& arrivals,
                                  const std::vector<Told>& told);

/// Length of what is in both; each list is in order and disjoint.
std::int64_t common_ns(const std::vector<Span>& a, const std::vector<Span>& b);

/// Steps of the record: of the kind of file that tells most of one rank; where several ranks tell of the same ones, each is as
/// long as for the rank in the middle. Nothing without any.
struct Steps {
  std::string kind = {};
  std::vector<double> times_s = {};
  std::vector<double> starts_s = {};  ///< since 1970; empty where it is not told
  std::vector<char> is_shared = {};   ///< as of Step, one for each
};
std::optional<Steps> steps_of(const std::vector<Told>& told);

}  // namespace tw::operations
