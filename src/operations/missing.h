// SPDX-License-Identifier: Apache-2.0
// Who did not come to a collective in which others stand: from dumps that ranks left behind when a job hung.
//
// A group's collective N hangs when a rank has asked for it and it is not completed. Ranks of the group whose dumps are
// there and that have not asked for N are missing. Lines of PyTorch's watchdog are such dumps of one collective. Where all have asked and it is not completed, nobody is missing: it is
// the transfer that does not end, or ranks that ask for different things.

#pragma once

#include "trainwire/operations/told.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tw::operations {

/// The group of what PyTorch's watchdog says in a log begins so, and its name follows, where lines tell any.
inline constexpr std::string_view kWatchdog = "watchdog";
bool is_by_watchdog(std::string_view group);
/// In place of a group's name, where PyTorch compared what ranks ask for (TORCH_DISTRIBUTED_DEBUG=DETAIL).
inline constexpr std::string_view kChecks = "TORCH_DISTRIBUTED_DEBUG";

struct Hang {
  std::string group = {};
  std::int64_t sequence = 0;
  std::string op = {};
  std::optional<std::int64_t> bytes = {};
  std::vector<int> waiting = {};                     ///< ranks that stand in it
  std::vector<int> missing = {};                     ///< ranks that never asked for it
  std::optional<std::int64_t> last_of_missing = {};  ///< number of their last one, where it is told
  std::vector<std::string> mismatch = {};            ///< "rank 2 asks for all_gather of 4096 bytes"
  /// Of the watchdog: number of a later collective of the group, and who stands in it.
  std::map<std::int64_t, std::vector<int>> further = {};
  std::optional<Stall> stall = {};  ///< as Horovod tells of it: no number, and nobody who waits
  int without_dump = 0;             ///< ranks of the group of which there is no dump
};

/// The first of each group that hangs; first what does not hang because of another.
std::vector<Hang> hangs(const std::vector<Told>& told);

/// In one sentence.
std::string sentence_of(const Hang& hang);

/// Of ranks whose watchdog tells that they stand in nothing, where nobody is told to stand anywhere; "" without any.
std::string idle_ranks(const std::vector<Told>& told);

/// Sends and receives that did not end, as dumps tell; "" without any.
std::string open_messages(const std::vector<Told>& told);

}  // namespace tw::operations
