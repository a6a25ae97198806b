// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/arrivals.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

namespace tw::operations {
namespace {

constexpr std::int64_t kFarthestShift = 16;
constexpr std::size_t kFewest = 3;  ///< collectives that tell a clock
constexpr std::int64_t kGrows = 4;  ///< part of an offset that it grows by where no clock makes it

/// The timed operations of one rank in one group, in order.
struct Row {
  int rank;
  std::size_t file;
  std::vector<const Operation*> operations = {};
};
using Rows = std::map<std::string, std::vector<Row>>;  ///< by kind and group

bool has_own_clock(const Told& told) {
  return std::any_of(told.operations.begin(), told.operations.end(),
                     [](const Operation& each) { return each.clock == Clock::Process; });
}

/// Of the files in `only`, or of all without any.
Rows rows_of(const std::vector<Told>& told, const std::set<std::size_t>& only) {
  std::map<std::tuple<std::string, int, std::size_t>, Row> made;
  for (std::size_t file = 0; file < told.size(); ++file) {
    if (!only.empty() && !only.contains(file)) continue;
    for (const Operation& each : told[file].operations) {
      if (!is_timed(each) || is_message(each.op)) continue;
      const auto key = std::tuple(told[file].kind + "|" + each.group, *each.rank, file);
      made.try_emplace(key, Row{.rank = *each.rank, .file = file})
          .first->second.operations.push_back(&each);
    }
  }
  Rows rows;
  for (auto& [key, row] : made) {
    std::vector<Row>& group = rows[std::get<0>(key)];
    std::stable_sort(row.operations.begin(), row.operations.end(),
                     [](const auto* a, const auto* b) { return *a->start_ns < *b->start_ns; });
    // Two files of one rank would count it twice: the one that tells more is taken, of equal ones the first.
    const bool is_known = !group.empty() && group.back().rank == row.rank;
    if (!is_known) {
      group.push_back(std::move(row));
    } else if (row.operations.size() > group.back().operations.size()) {
      group.back() = std::move(row);
    }
  }
  return rows;
}

bool alike(const Operation& a, const Operation& b) {
  return a.op == b.op && (!a.bytes || !b.bytes || *a.bytes == *b.bytes);
}

bool all_numbered(const std::vector<Row>& group) {
  return std::all_of(group.begin(), group.end(), [](const Row& row) {
    return std::all_of(row.operations.begin(), row.operations.end(),
                       [](const Operation* each) { return each->sequence.has_value(); });
  });
}

/// Of `row` against the first one's order: its i-th is the first one's (i + shift)-th.
std::int64_t shift_of(const Row& first, const Row& row) {
  const auto n = static_cast<std::int64_t>(row.operations.size());
  const auto m = static_cast<std::int64_t>(first.operations.size());
  if (n == m) return 0;
  std::int64_t best = 0;
  std::int64_t most = -1;
  double nearest = 0;
  for (std::int64_t shift = -kFarthestShift; shift <= kFarthestShift; ++shift) {
    std::int64_t matches = 0;
    double apart = 0;
    for (std::int64_t i = std::max<std::int64_t>(0, -shift); i < n && i + shift < m; ++i) {
      const Operation& a = *row.operations[static_cast<std::size_t>(i)];
      const Operation& b = *first.operations[static_cast<std::size_t>(i + shift)];
      if (alike(a, b)) ++matches;
      apart += std::abs(static_cast<double>(*a.end_ns - *b.end_ns));
    }
    apart /= static_cast<double>(std::max<std::int64_t>(1, matches));
    if (matches < most || (matches == most && apart >= nearest)) continue;
    std::tie(best, most, nearest) = std::tuple(shift, matches, apart);
  }
  return best;
}

using Joined = std::map<std::pair<std::string, std::int64_t>,
                        std::vector<std::pair<const Row*, const Operation*>>>;

Joined joined(const Rows& rows) {
  Joined made;
  for (const auto& [name, group] : rows) {
    const bool numbered = all_numbered(group);
    for (const Row& row : group) {
      const std::int64_t shift = numbered ? 0 : shift_of(group.front(), row);
      for (std::size_t i = 0; i < row.operations.size(); ++i) {
        const Operation* each = row.operations[i];
        const std::int64_t number =
            numbered ? *each->sequence : static_cast<std::int64_t>(i) + shift;
        auto& parts = made[{name, number}];
        if (!parts.empty() && !alike(*parts.front().second, *each)) continue;
        parts.emplace_back(&row, each);
      }
    }
  }
  return made;
}

/// Whole nanoseconds: since 1970 they are more than a double holds.
std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// How far a file's ends are behind the reference's, and how well that is known.
struct Offset {
  std::int64_t ns;
  std::int64_t uncertainty_ns;
  bool grows;  ///< with how long collectives take: a slow way, and no clock
};

struct Difference {
  std::int64_t duration_ns;
  std::int64_t ns;
};

std::int64_t median_of(const std::vector<Difference>& differences) {
  std::vector<std::int64_t> values;
  for (const Difference& each : differences) values.push_back(each.ns);
  return median(std::move(values));
}

std::optional<Offset> offset_of(std::vector<Difference> differences) {
  if (differences.size() < kFewest) return {};
  // Short collectives end for all within less.
  std::sort(differences.begin(), differences.end(),
            [](const Difference& a, const Difference& b) { return a.duration_ns < b.duration_ns; });
  const std::int64_t of_longer =
      median_of({differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2),
                 differences.end()});
  differences.resize(std::max(kFewest, differences.size() / 2));
  const std::int64_t offset = median_of(differences);
  std::vector<std::int64_t> values;
  for (const Difference& each : differences) values.push_back(std::abs(each.ns - offset));
  const bool grows =
      std::abs(of_longer - offset) > std::max(kOwnClock_ns, std::abs(offset) / kGrows);
  return Offset{.ns = offset, .uncertainty_ns = median(values), .grows = grows};
}

/// The file that times are moved to: the first that shares a collective with another, of those that count from 1970
/// where there are any.
std::optional<std::size_t> reference_of(const Joined& all, const std::vector<Told>& told) {
  std::optional<std::size_t> reference;
  for (const auto& [key, parts] : all) {
    if (parts.size() < 2 || !waits_for_all(parts.front().second->op)) continue;
    for (const auto& [row, each] : parts) {
      if (!reference) reference = row->file;
      if (!has_own_clock(told[row->file])) return row->file;
    }
  }
  return reference;
}

using Differences = std::map<std::size_t, std::vector<Difference>>;

/// By file that has no place yet: how far its ends are behind those of files that have one.
Differences differences_of(const Joined& all, const std::set<std::size_t>& placed) {
  Differences made;
  for (const auto& [key, parts] : all) {
    if (parts.size() < 2 || !waits_for_all(parts.front().second->op)) continue;
    const auto base = std::find_if(parts.begin(), parts.end(), [&](const auto& part) {
      return placed.contains(part.first->file);
    });
    if (base == parts.end()) continue;
    for (const auto& [row, each] : parts) {
      if (placed.contains(row->file)) continue;
      made[row->file].push_back({.duration_ns = *each->end_ns - *each->start_ns,
                                 .ns = *each->end_ns - *base->second->end_ns});
    }
  }
  return made;
}

/// Moves the file's times to the clock of those that it was compared with, where it has another.
void put_on_clock(const Offset& offset, Told& file) {
  file.clock_uncertainty_ns = offset.uncertainty_ns;
  const bool is_own =
      has_own_clock(file) || (std::abs(offset.ns) > kOwnClock_ns &&
                              std::abs(offset.ns) > 3 * offset.uncertainty_ns && !offset.grows);
  if (offset.grows && !is_own) file.clock_uncertainty_ns = std::abs(offset.ns);
  if (!is_own) return;
  file.clock_offset_ns = offset.ns;
  move_times(file, offset.ns);
}

/// Files whose times can be compared, by their numbers. A file that shares no group with the reference, as of another tensor-parallel group,
/// is compared with those that do.
std::set<std::size_t> one_clock(std::vector<Told>& told) {
  std::set<std::size_t> comparable;
  for (std::size_t file = 0; file < told.size(); ++file) {
    if (!has_own_clock(told[file])) comparable.insert(file);
  }
  const Rows rows = rows_of(told, {});
  const Joined all = joined(rows);
  const auto reference = reference_of(all, told);
  if (!reference) return comparable;
  comparable.insert(*reference);
  std::set<std::size_t> placed{*reference};
  for (std::size_t before = 0; before < placed.size();) {
    before = placed.size();
    for (auto& [file, each] : differences_of(all, placed)) {
      const auto offset = offset_of(std::move(each));
      if (!offset) continue;
      comparable.insert(file);
      placed.insert(file);
      put_on_clock(*offset, told[file]);
    }
  }
  return comparable;
}

Arrival arrival_of(const std::vector<std::pair<const Row*, const Operation*>>& parts) {
  const Operation& first = *parts.front().second;
  Arrival made{.group = first.group, .op = first.op, .group_size = first.group_size};
  made.first_ns = *first.start_ns;
  made.last_ns = *first.start_ns;
  made.last_rank = *first.rank;
  made.end_ns = *first.end_ns;
  for (const auto& [row, each] : parts) {
    if (!made.bytes) made.bytes = each->bytes;
    made.parts.push_back({row->rank, row->file, *each->start_ns, *each->end_ns});
    made.first_ns = std::min(made.first_ns, *each->start_ns);
    made.end_ns = std::max(made.end_ns, *each->end_ns);
    if (*each->start_ns > made.last_ns) {
      made.last_ns = *each->start_ns;
      made.last_rank = row->rank;
    }
  }
  std::vector<std::int64_t> others;
  for (const Part& part : made.parts) {
    if (part.rank != made.last_rank) others.push_back(made.last_ns - part.start_ns);
  }
  if (!others.empty()) made.late_ns = median(others);
  return made;
}

/// Where files do not tell it: the whole job for a group without a name, and no fewer than the files that tell of it.
int size_of_group(const Arrival& arrival, const std::vector<Told>& told) {
  if (arrival.group_size > 0) return arrival.group_size;
  int size = static_cast<int>(arrival.parts.size());
  if (!arrival.group.empty()) return size;
  for (const Part& part : arrival.parts) size = std::max(size, told[part.file].world_size);
  return size;
}

}  // namespace

void move_times(Told& told, std::int64_t by_ns) {
  const auto move = [&](std::optional<std::int64_t>& time) {
    if (time) *time -= by_ns;
  };
  for (Operation& each : told.operations) {
    if (each.clock == Clock::Alone) continue;
    move(each.enqueue_ns);
    move(each.start_ns);
    move(each.end_ns);
  }
  for (Step& each : told.steps) move(each.start_ns);
  for (Span& each : told.computing) {
    each.start_ns -= by_ns;
    each.end_ns -= by_ns;
  }
}

double Arrival::mean_wait_s() const {
  double sum = 0;
  for (const Part& part : parts) sum += 1e-9 * static_cast<double>(last_ns - part.start_ns);
  return sum / static_cast<double>(parts.size());
}

std::vector<Arrival> arrivals(std::vector<Told>& told) {
  const Rows rows = rows_of(told, one_clock(told));
  std::vector<Arrival> made;
  for (const auto& [key, parts] : joined(rows)) {
    // All that have files must be there: a part that was cut off would look like an early end.
    if (parts.size() < 2 || parts.size() < rows.at(key.first).size()) continue;
    made.push_back(arrival_of(parts));
    made.back().group_size = size_of_group(made.back(), told);
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const Arrival& a, const Arrival& b) { return a.first_ns < b.first_ns; });
  return made;
}

}  // namespace tw::operations
