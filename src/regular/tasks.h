// SPDX-License-Identifier: Apache-2.0
// All ranks' transfers of an exchange with what each waits for, in a few bytes each, so that those
// of 100,000 ranks fit into some hundred megabytes.
//
// Order and waits are those of collective/cursor.h. A *task* is a transfer seen from one of its
// ends. Besides, a connection carries one transfer after another: a task waits for the one before it
// with the same peer in the same direction. What follows from other waits is left out.
//
// Limits: no rank has more than kMostTasks of them; every transfer moves something.

#pragma once

#include "trainwire/collective/schedule.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tw::regular {

inline constexpr std::size_t kMostTasks = 1024;

struct Task {
  int round = 0;
  int peer = 0;
  int chunk = 0;
  int width = 1;
  std::uint32_t first_behind = 0;  ///< those that wait for it
  std::uint16_t behind = 0;        ///< how many they are
  std::uint16_t waits : 15 = 0;    ///< for so many others of its rank
  std::uint16_t sends : 1 = 0;
};

class Tasks {
 public:
  /// Nothing where a rank has too many.
  static std::optional<Tasks> of(const collective::Schedule& schedule);

  std::span<const Task> of_rank(int rank) const { return slice(tasks_, first_task_, rank); }
  /// The rank's tasks, by number, that wait for one of them.
  std::span<const std::uint16_t> behind(const Task& task) const {
    return std::span<const std::uint16_t>(behind_).subspan(task.first_behind, task.behind);
  }
  /// The number of what a rank receives from a peer in a round; often it is near `guess`.
  std::size_t receive_of(int rank, const Task& received, std::size_t guess = 0) const;
  /// Of the rank's first one among those of all.
  std::size_t first(int rank) const { return first_task_[static_cast<std::size_t>(rank)]; }
  std::size_t size() const { return tasks_.size(); }

 private:
  template <typename T>
  static std::span<const T> slice(const std::vector<T>& all, const std::vector<std::size_t>& first,
                                  int rank) {
    const auto at = static_cast<std::size_t>(rank);
    return std::span<const T>(all).subspan(first[at], first[at + 1] - first[at]);
  }
  static std::optional<Tasks> of_ranks(const collective::Schedule& schedule, int first, int end);
  void add(const Tasks& more);
  void add_rank(std::span<Task> tasks);

  std::vector<Task> tasks_ = {};
  std::vector<std::size_t> first_task_ = {0};  ///< by rank, and one behind the last
  std::vector<std::uint16_t> behind_ = {};     ///< task by task
};

}  // namespace tw::regular
