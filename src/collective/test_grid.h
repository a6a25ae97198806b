// SPDX-License-Identifier: Apache-2.0
// The grid of arrangements that the tests of this module walk.

#pragma once

#include "trainwire/base/test_sizes.h"
#include "trainwire/collective/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::collective {

struct Case {
  std::string_view strategy;
  Arrangement arrangement;

  std::string text() const {
    const Arrangement& a = arrangement;
    return fmt::format("{}: {} ranks on {} hosts, {} servers{}, {} pieces", strategy,
                       a.layout.ranks(), a.layout.hosts, a.servers,
                       a.asynchronous ? " (asynchronous)" : "", a.pieces);
  }
};

/// Whole payloads of nothing, of less than a chunk each, of no round number, and of ResNet-50.
inline const std::vector<std::int64_t> kPayloads{0, 1, 10'007, 25'557'032};

/// 1 to 4 neighbouring ranks on a host (the last hosts may hold fewer), and 3 hosts dealt out in
/// turn with one that stays empty.
inline std::vector<Layout> layouts(int ranks) {
  std::vector<Layout> result;
  for (int per_host = 1; per_host <= 4; ++per_host) {
    result.push_back(evenly(ranks, (ranks + per_host - 1) / per_host));
  }
  Layout dealt{.hosts = 4, .host_of = {}};
  for (int rank = 0; rank < ranks; ++rank) dealt.host_of.push_back(rank % 3);
  result.push_back(dealt);
  return result;
}

/// The settings that make a difference to `strategy` on `layout`.
inline std::vector<Case> variants(std::string_view strategy, const Layout& layout) {
  std::vector<Case> result;
  const Strategy& row = collective::strategy(strategy);
  if (row.has_servers) {
    for (int servers = 1; servers <= 4 && servers < layout.ranks(); ++servers) {
      for (const bool asynchronous : {false, true}) {
        result.push_back(
            {strategy, {.layout = layout, .servers = servers, .asynchronous = asynchronous}});
      }
    }
    return result;
  }
  for (const int pieces : row.cuts_pieces ? std::vector{1, 3, 8} : std::vector{1}) {
    result.push_back({strategy, {.layout = layout, .pieces = pieces, .seed = 7, .step = 11}});
  }
  return result;
}

inline void for_each_case(int most_ranks, const std::function<void(const Case&)>& visit) {
  for (const Strategy& strategy : catalogue()) {
    for (int ranks = 1; ranks <= most_ranks; ++ranks) {
      // Beyond nine, strategies differ where a power of two is passed.
      if (kSanitized && ranks > 9 && ranks != 12 && ranks != 16 && ranks != 17 && ranks != 33)
        continue;
      for (const Layout& layout : layouts(ranks)) {
        for (const Case& one : variants(strategy.name, layout)) visit(one);
      }
    }
  }
}

inline Schedule make(const Case& one) { return make_schedule(one.strategy, one.arrangement); }

/// Every transfer once, as its sender knows it, in round order.
inline std::vector<Transfer> all_transfers(const Schedule& schedule) {
  std::vector<Transfer> all;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const Transfer& t : transfers_of(schedule, rank)) {
      if (t.from == rank) all.push_back(t);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace tw::collective
