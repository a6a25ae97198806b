// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/tasks.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <bitset>
#include <tuple>

namespace tw::regular {
namespace {

using collective::Schedule;
using collective::Strand;
constexpr std::size_t kNear = 3;
using Before = std::bitset<kMostTasks>;

auto place_of(const Task& task) {
  return std::tuple(task.round, task.sends == 0, task.peer, task.chunk);
}

/// In order; nothing where there are too many.
std::optional<std::vector<Task>> listed(const Schedule& schedule, int rank) {
  std::vector<Task> tasks;
  for (const Strand& strand : schedule.program(rank)) {
    if (tasks.size() + static_cast<std::size_t>(strand.count) > kMostTasks) return {};
    for (std::int64_t i = 0; i < strand.count; ++i) {
      const collective::Transfer t = transfer(schedule, strand, i);
      const bool sends = t.from == rank;
      tasks.push_back({.round = static_cast<int>(t.round),
                       .peer = sends ? t.to : t.from,
                       .chunk = t.chunk,
                       .width = t.width,
                       .sends = sends ? std::uint16_t{1} : std::uint16_t{0}});
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const Task& a, const Task& b) { return place_of(a) < place_of(b); });
  return tasks;
}

bool share_chunks(const Task& a, const Task& b) {
  return a.chunk < b.chunk + b.width && b.chunk < a.chunk + a.width;
}

/// Whether a task waits for an earlier one of its rank.
bool waits_for(const Task& task, const Task& earlier) {
  if (task.sends == earlier.sends && task.peer == earlier.peer) return true;  // one connection
  return earlier.round < task.round && !(task.sends == 1 && earlier.sends == 1) &&
         share_chunks(task, earlier);
}

}  // namespace

std::optional<Tasks> Tasks::of(const Schedule& schedule) {
  Tasks made;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    std::optional<std::vector<Task>> tasks = listed(schedule, rank);
    if (!tasks) return {};
    made.add_rank(*tasks);
  }
  return made;
}

void Tasks::add_rank(std::span<Task> tasks) {
  std::vector<std::pair<std::uint16_t, std::uint16_t>> waits;  // for whom, who
  std::vector<Before> before(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::size_t j = i; j-- > 0;) {
      if (before[i].test(j) || !waits_for(tasks[i], tasks[j])) continue;
      before[i] |= before[j];
      before[i].set(j);
      tasks[i].waits = static_cast<std::uint16_t>(tasks[i].waits + 1U);
      waits.emplace_back(j, i);
    }
  }
  std::sort(waits.begin(), waits.end());
  auto next = waits.begin();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].first_behind = static_cast<std::uint32_t>(behind_.size());
    for (; next != waits.end() && next->first == i; ++next) {
      behind_.push_back(next->second);
      ++tasks[i].behind;
    }
  }
  tasks_.insert(tasks_.end(), tasks.begin(), tasks.end());
  first_task_.push_back(tasks_.size());
}

std::size_t Tasks::receive_of(int rank, const Task& received, std::size_t guess) const {
  const std::span<const Task> tasks = of_rank(rank);
  const auto is_it = [&](const Task& task) { return place_of(task) == place_of(received); };
  for (std::size_t i = guess; i < std::min(guess + kNear, tasks.size()); ++i) {
    if (is_it(tasks[i])) return i;
  }
  const auto found =
      std::lower_bound(tasks.begin(), tasks.end(), received,
                       [](const Task& a, const Task& b) { return place_of(a) < place_of(b); });
  check(found != tasks.end() && is_it(*found),
        "both ends of a connection list its transfers alike");
  return static_cast<std::size_t>(found - tasks.begin());
}

}  // namespace tw::regular
