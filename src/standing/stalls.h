// SPDX-License-Identifier: Apache-2.0
// What Horovod prints when ranks wait for others: "HorovodBroadcast_x_0 [missing ranks: 1]", before 0.16 "[ready ranks: 5, 1, 4]", since 0.19
// "Missing ranks:" and lines "1: [tensor, tensor]".
//
// Limits: of ready ranks, those that are missing are the gaps below the highest.

#pragma once

#include "trainwire/operations/told.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tw::standing {

/// Whether Horovod names tensors in it that wait, or begins to.
bool is_of_stall(std::string_view line);

/// Takes lines one by one.
class Stalls {
 public:
  /// False when it is none of Horovod's.
  bool line(std::string_view text);
  /// Nothing without any.
  const std::optional<operations::Stall>& told() const { return told_; }

 private:
  bool took_tensor(std::string_view text);
  bool took_rank(std::string_view text);
  void add(int rank, std::string_view tensor);

  std::optional<operations::Stall> told_;
  /// Rank and hash of a tensor's name: Horovod names them again each minute.
  std::set<std::pair<int, std::size_t>> seen_;
  bool lists_ranks_ = false;  ///< "Missing ranks:" was before
};

}  // namespace tw::standing
