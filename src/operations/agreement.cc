// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

namespace tw::operations {
namespace {

constexpr double kMuchApart = 0.05;  ///< of a step

using Sizes = std::vector<std::int64_t>;
using ByRankAndOp = std::map<std::tuple<int, std::string>, Sizes>;

std::map<std::string, ByRankAndOp> sizes_by_kind(const std::vector<Told>& told) {
  std::map<std::string, ByRankAndOp> kinds;
  for (const Told& file : told) {
    for (const Operation& each : file.operations) {
      if (!each.rank || !each.bytes || each.clock == Clock::Alone) continue;
      kinds[file.kind][{*each.rank, each.op}].push_back(*each.bytes);
    }
  }
  return kinds;
}

Agreement compared(const std::string& a, const ByRankAndOp& of_a, const std::string& b,
                   const ByRankAndOp& of_b) {
  Agreement made{.one = a, .other = b};
  std::size_t count_a = 0;
  std::size_t count_b = 0;
  for (const auto& [key, sizes] : of_a) {
    const auto found = of_b.find(key);
    if (found == of_b.end()) continue;
    const Sizes& others = found->second;
    count_a += sizes.size();
    count_b += others.size();
    const Sizes& few = sizes.size() <= others.size() ? sizes : others;
    const Sizes& many = sizes.size() <= others.size() ? others : sizes;
    made.compared += few.size();
    for (const std::int64_t size : few) made.bytes += static_cast<std::uint64_t>(size);
    if (std::search(many.begin(), many.end(), few.begin(), few.end()) != many.end()) continue;
    if (made.agrees) {
      made.difference =
          fmt::format("rank {}'s {}, {} of them in one and {} in the other", std::get<0>(key),
                      std::get<1>(key), sizes.size(), others.size());
    }
    made.agrees = false;
  }
  if (count_b < count_a) std::swap(made.one, made.other);
  return made;
}

std::int64_t middle(std::vector<std::int64_t> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Each from the end of the one before, where that is told; nothing stands for steps that ranks leave at different times.
std::vector<Span> end_to_end(const std::map<std::int64_t, std::optional<Span>>& steps) {
  std::vector<Span> made;
  for (const auto& [number, step] : steps) {
    const auto before = steps.find(number - 1);
    if (!step || (before != steps.end() && !before->second)) continue;
    made.push_back({before == steps.end() ? step->start_ns : before->second->end_ns, step->end_ns});
  }
  return made;
}

using ByNumber = std::map<std::int64_t, std::optional<Span>>;

/// Of each kind: as long as for the rank in the middle; nothing stands for a step that ranks leave at different times.
std::map<std::string, ByNumber> steps_by_kind(const std::vector<Told>& told) {
  std::map<std::string,
           std::map<std::int64_t, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>>
      ends;
  for (const Told& file : told) {
    for (const Step& step : file.steps) {
      if (!step.start_ns) continue;
      auto& [starts, lasts] = ends[file.kind][step.number];
      starts.push_back(*step.start_ns);
      lasts.push_back(*step.start_ns + step.duration_ns);
    }
  }
  std::map<std::string, ByNumber> made;
  for (const auto& [kind, steps] : ends) {
    for (const auto& [number, times] : steps) {
      const Span step{middle(times.first), middle(times.second)};
      const auto [first, last] = std::minmax_element(times.second.begin(), times.second.end());
      const bool is_common = static_cast<double>(*last - *first) <
                             kMuchApart * static_cast<double>(step.end_ns - step.start_ns);
      made[kind][number] = is_common ? std::optional(step) : std::nullopt;
    }
  }
  return made;
}

std::int64_t length(const Span& span) { return span.end_ns - span.start_ns; }

StepAgreement compared(const std::vector<Span>& few, const std::vector<Span>& many) {
  StepAgreement made;
  std::vector<double> differences;
  for (const Span& step : few) {
    const auto nearest =
        std::min_element(many.begin(), many.end(), [&](const Span& a, const Span& b) {
          return std::abs(a.end_ns - step.end_ns) < std::abs(b.end_ns - step.end_ns);
        });
    const bool is_it = nearest != many.end() && length(step) > 0 && length(*nearest) > 0 &&
                       2 * std::abs(nearest->end_ns - step.end_ns) < length(step);
    if (!is_it) continue;
    made.one_s += 1e-9 * static_cast<double>(length(step));
    made.other_s += 1e-9 * static_cast<double>(length(*nearest));
    differences.push_back(static_cast<double>(std::abs(length(step) - length(*nearest))) /
                          static_cast<double>(length(*nearest)));
  }
  made.compared = differences.size();
  if (differences.empty()) return made;
  made.one_s /= static_cast<double>(made.compared);
  made.other_s /= static_cast<double>(made.compared);
  std::sort(differences.begin(), differences.end());
  made.median = differences[differences.size() / 2];
  made.largest = differences.back();
  return made;
}

}  // namespace

std::vector<StepAgreement> step_agreements(const std::vector<Told>& told,
                                           const std::vector<Span>& of_packets) {
  std::map<std::string, std::vector<Span>> kinds;
  for (const auto& [kind, steps] : steps_by_kind(told)) kinds[kind] = end_to_end(steps);
  if (!of_packets.empty()) kinds["packets"] = of_packets;
  std::vector<StepAgreement> made;
  for (auto a = kinds.begin(); a != kinds.end(); ++a) {
    for (auto b = std::next(a); b != kinds.end(); ++b) {
      const bool in_order = a->second.size() <= b->second.size();
      const auto& [one, few] = in_order ? *a : *b;
      const auto& [other, many] = in_order ? *b : *a;
      StepAgreement each = compared(few, many);
      each.one = one;
      each.other = other;
      if (each.compared > 0) made.push_back(std::move(each));
    }
  }
  return made;
}

std::vector<StepPause> step_pauses(const std::vector<Told>& told) {
  ByNumber most;
  for (auto& [kind, steps] : steps_by_kind(told)) {
    if (steps.size() > most.size()) most = std::move(steps);
  }
  std::vector<StepPause> made;
  for (const auto& [number, step] : most) {
    const auto before = most.find(number - 1);
    if (!step || before == most.end() || !before->second) continue;
    const std::int64_t pause = step->start_ns - before->second->end_ns;
    if (static_cast<double>(pause) > kMuchApart * static_cast<double>(length(*step)))
      made.push_back({number, 1e-9 * static_cast<double>(pause)});
  }
  return made;
}

std::vector<Agreement> agreements(const std::vector<Told>& told) {
  const auto kinds = sizes_by_kind(told);
  std::vector<Agreement> made;
  for (auto a = kinds.begin(); a != kinds.end(); ++a) {
    for (auto b = std::next(a); b != kinds.end(); ++b) {
      Agreement each = compared(a->first, a->second, b->first, b->second);
      if (each.compared > 0) made.push_back(std::move(each));
    }
  }
  return made;
}

}  // namespace tw::operations
