// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/told.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::operations {
namespace {

/// From the first operation to the last; nothing where times do not count from 1970.
std::optional<Span> span_of(const Told& file) {
  std::optional<Span> made;
  for (const Operation& each : file.operations) {
    const auto start = each.start_ns ? each.start_ns : each.enqueue_ns;
    if (!start || each.clock != Clock::Epoch) return {};
    const std::int64_t end = each.end_ns.value_or(*start);
    if (!made) made = Span{*start, end};
    made = Span{std::min(made->start_ns, *start), std::max(made->end_ns, end)};
  }
  return made;
}

bool are_apart(const std::optional<Span>& a, const std::optional<Span>& b) {
  return a && b && (a->end_ns <= b->start_ns || b->end_ns <= a->start_ns);
}

template <typename T>
void move_into(std::vector<T>& into, std::vector<T>& from) {
  into.insert(into.end(), from.begin(), from.end());
  from.clear();
}

void move_into(Told& into, Told& from) {
  move_into(into.operations, from.operations);
  move_into(into.steps, from.steps);
  move_into(into.computing, from.computing);
  std::stable_sort(into.computing.begin(), into.computing.end(),
                   [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
}

}  // namespace

void Skips::write_to(Told& told) const {
  for (const auto& [why, count] : counts_) {
    told.skipped += count;
    told.reasons.push_back(fmt::format("{} {}", grouped(static_cast<std::int64_t>(count)), why));
  }
}

void join_same_rank(std::vector<Told>& told) {
  std::map<std::pair<std::string, int>, std::vector<Told*>> by_rank;
  for (Told& file : told) {
    const bool is_one = file.kind == "flight_recorder" || file.kind == "kineto";
    if (is_one && file.rank && !file.operations.empty())
      by_rank[{file.kind, *file.rank}].push_back(&file);
  }
  for (auto& [key, files] : by_rank) {
    std::stable_sort(files.begin(), files.end(), [](const Told* a, const Told* b) {
      return a->operations.size() > b->operations.size();
    });
    std::vector<std::pair<const Told*, std::optional<Span>>> kept;
    for (Told* file : files) {
      const auto span = span_of(*file);
      const auto same = std::find_if(kept.begin(), kept.end(), [&](const auto& each) {
        return !are_apart(span, each.second);
      });
      if (same == kept.end()) {
        kept.emplace_back(file, span);
        if (file != files.front()) move_into(*files.front(), *file);
        continue;
      }
      file->notes.push_back(
          fmt::format("{} is of rank {}, as {} is: only the one that tells more counts",
                      printable(file->path), key.second, printable(same->first->path)));
      file->operations.clear();
      file->steps.clear();
      file->computing.clear();
    }
  }
}

}  // namespace tw::operations
