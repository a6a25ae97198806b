// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tw::operations {
namespace {

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

}  // namespace

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
