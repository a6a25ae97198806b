// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/tasks.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

namespace tw::regular {
namespace {

using collective::Schedule;
using collective::Strand;
constexpr std::size_t kNear = 3;
constexpr int kBlock = 1024;          ///< ranks that are listed together
constexpr std::size_t kFewWords = 2;  ///< enough for most ranks' tasks

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

/// For whom, who; who waits first comes first.
using Waits = std::vector<std::pair<std::uint16_t, std::uint16_t>>;

/// Tasks get their number of waits. REQUIRES: no more than 64 * kWords tasks.
template <std::size_t kWords>
void add_waits(std::span<Task> tasks, Waits& waits) {
  using Set = std::array<std::uint64_t, kWords>;
  std::vector<Set> before(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Set& known = before[i];
    for (std::size_t word = i / 64 + 1; word-- > 0;) {
      const std::size_t end = std::min<std::size_t>(i - 64 * word, 64);  // those before it
      std::uint64_t left = end == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
      // From the latest on: what that waits for need not be looked at.
      while ((left &= ~known[word]) != 0) {
        const auto bit = static_cast<std::size_t>(std::bit_width(left) - 1);
        const std::size_t j = 64 * word + bit;
        left &= ~(std::uint64_t{1} << bit);
        if (!waits_for(tasks[i], tasks[j])) continue;
        for (std::size_t k = 0; k <= word; ++k) known[k] |= before[j][k];
        known[word] |= std::uint64_t{1} << bit;
        tasks[i].waits = static_cast<std::uint16_t>(tasks[i].waits + 1U);
        waits.emplace_back(j, i);
      }
    }
  }
}

}  // namespace

std::optional<Tasks> Tasks::of(const Schedule& schedule) {
  const int blocks = (schedule.ranks + kBlock - 1) / kBlock;
  std::vector<std::optional<Tasks>> made(static_cast<std::size_t>(blocks));
  in_parallel(made.size(), [&](std::size_t block) {
    const int first = static_cast<int>(block) * kBlock;
    made[block] = of_ranks(schedule, first, std::min(first + kBlock, schedule.ranks));
  });
  Tasks all;
  for (std::optional<Tasks>& block : made) {
    if (!block) return {};
    all.add(*block);
    block.reset();
  }
  return all;
}

std::optional<Tasks> Tasks::of_ranks(const Schedule& schedule, int first, int end) {
  Tasks made;
  for (int rank = first; rank < end; ++rank) {
    std::optional<std::vector<Task>> tasks = listed(schedule, rank);
    if (!tasks) return {};
    made.add_rank(*tasks);
  }
  return made;
}

/// Those of the ranks that follow.
void Tasks::add(const Tasks& more) {
  const std::size_t tasks = tasks_.size();
  const auto behind = static_cast<std::uint32_t>(behind_.size());
  tasks_.insert(tasks_.end(), more.tasks_.begin(), more.tasks_.end());
  for (std::size_t i = tasks; i < tasks_.size(); ++i) tasks_[i].first_behind += behind;
  for (std::size_t i = 1; i < more.first_task_.size(); ++i) {
    first_task_.push_back(tasks + more.first_task_[i]);
  }
  behind_.insert(behind_.end(), more.behind_.begin(), more.behind_.end());
}

void Tasks::add_rank(std::span<Task> tasks) {
  Waits waits;
  tasks.size() <= 64 * kFewWords ? add_waits<kFewWords>(tasks, waits)
                                 : add_waits<kMostTasks / 64>(tasks, waits);
  for (const auto& [whom, who] : waits) ++tasks[whom].behind;
  auto next = static_cast<std::uint32_t>(behind_.size());
  std::vector<std::uint32_t> places;
  for (Task& task : tasks) {
    task.first_behind = next;
    places.push_back(next);
    next += task.behind;
  }
  behind_.resize(next);
  for (const auto& [whom, who] : waits) behind_[places[whom]++] = who;  // in their order
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
