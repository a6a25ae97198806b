// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/pair_rounds.h"

#include <gtest/gtest.h>

#include <set>

namespace tw::workload {
namespace {

TEST(PairRounds, MeetsEveryPairOnceAndNobodyTwiceInARound) {
  for (int members = 2; members <= 33; ++members) {
    const auto rounds = pair_rounds(members);
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(members - 1 + members % 2)) << members;
    std::set<std::pair<int, int>> met;
    for (const auto& round : rounds) {
      EXPECT_EQ(round.size(), static_cast<std::size_t>(members / 2)) << members;
      std::set<int> busy;
      for (const auto& [a, b] : round) {
        EXPECT_TRUE(0 <= a && a < b && b < members) << a << " and " << b << " of " << members;
        EXPECT_TRUE(busy.insert(a).second && busy.insert(b).second) << members;
        met.emplace(a, b);
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(members * (members - 1) / 2)) << members;
  }
}

}  // namespace
}  // namespace tw::workload
