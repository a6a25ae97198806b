// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fluid/priorities.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::fluid {
namespace {

using Links = std::vector<int>;

TEST(Priorities, TheLowerHaveWhatTheHigherLeave) {
  Priorities sharing({10, 6});
  const int high = sharing.add(Links{0}, 1, 7, 3);
  const int low = sharing.add(Links{0}, 1, kNoCap, 0);
  const int other = sharing.add(Links{1}, 1, kNoCap, 0);
  sharing.solve();
  EXPECT_DOUBLE_EQ(sharing.rate(high), 7);
  EXPECT_DOUBLE_EQ(sharing.rate(low), 3);
  EXPECT_DOUBLE_EQ(sharing.rate(other), 6);
  sharing.set_cap(high, kNoCap);
  sharing.solve();
  EXPECT_DOUBLE_EQ(sharing.rate(high), 10);
  EXPECT_EQ(sharing.rate(low), 0) << "strictly";
  EXPECT_TRUE(sharing.certified());
  sharing.remove(high);
  EXPECT_EQ(sharing.solve().size(), 1U);
  EXPECT_DOUBLE_EQ(sharing.rate(low), 10);
}

TEST(Priorities, ACapacityIsThereForAll) {
  Priorities sharing({10});
  const int high = sharing.add(Links{0}, 1, 4, 1);
  const int low = sharing.add(Links{0}, 1, kNoCap, 0);
  sharing.solve();
  sharing.set_capacity(0, 5);
  sharing.solve();
  EXPECT_DOUBLE_EQ(sharing.rate(high), 4);
  EXPECT_DOUBLE_EQ(sharing.rate(low), 1);
  EXPECT_DOUBLE_EQ(sharing.carried(0), 5);
}

TEST(Priorities, ACertificateLooksAtWhatIsLeft) {
  Priorities sharing({10});
  sharing.add(Links{0}, 1, kNoCap, 0);
  sharing.solve();
  sharing.add(Links{0}, 1, 4, 2);
  EXPECT_FALSE(sharing.certified()) << "less than the new flow could have";
  sharing.solve();
  EXPECT_TRUE(sharing.certified());
}

// Whatever comes, goes and changes: each priority is max-min on what is left, and no link carries
// more than it can. With equal priorities the rates are those without.
TEST(Priorities, AreMaxMinOneAfterTheOtherInRandomCases) {
  Random random(3, "priorities");
  for (int round = 0; round < 500; ++round) {
    const auto links = 1 + static_cast<std::size_t>(random.below(8));
    std::vector<double> capacities;
    for (std::size_t i = 0; i < links; ++i) capacities.push_back(0.1 + 10 * random.uniform());
    const auto kinds = 1 + random.below(3);
    Priorities sharing(capacities);
    Sharing plain(capacities);
    std::vector<std::pair<int, int>> flows;
    for (int change = 0; change < 40; ++change) {
      if (!flows.empty() && random.uniform() < 0.3) {
        sharing.remove(flows.back().first);
        plain.remove(flows.back().second);
        flows.pop_back();
      } else {
        Links route{static_cast<int>(random.below(links))};
        for (std::size_t link = 0; link < links; ++link) {
          if (random.uniform() < 0.3 && static_cast<int>(link) != route[0]) {
            route.push_back(static_cast<int>(link));
          }
        }
        const double weight = 0.1 + random.uniform();
        const double cap = random.uniform() < 0.5 ? kNoCap : 3 * random.uniform();
        flows.emplace_back(sharing.add(route, weight, cap, static_cast<int>(random.below(kinds))),
                           plain.add(route, weight, cap));
      }
      if (random.uniform() < 0.5) continue;
      sharing.solve();
      plain.solve();
      ASSERT_TRUE(sharing.certified(1e-6)) << round;
      for (std::size_t i = 0; i < links; ++i) {
        ASSERT_LE(sharing.carried(static_cast<int>(i)), capacities[i] * (1 + 1e-6));
      }
      for (const auto& [one, other] : flows) {
        if (kinds > 1) break;
        ASSERT_EQ(sharing.rate(one), plain.rate(other));
      }
    }
  }
}

}  // namespace
}  // namespace tw::fluid
