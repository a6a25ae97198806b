// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fluid/sharing.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tw::fluid {
namespace {

using Links = std::vector<int>;

TEST(Sharing, EqualFlowsShareALinkEqually) {
  Sharing sharing({9});
  std::vector<int> flows;
  for (int i = 0; i < 3; ++i) flows.push_back(sharing.add(Links{0}));
  EXPECT_EQ(sharing.solve().size(), 3U);
  for (const int flow : flows) EXPECT_DOUBLE_EQ(sharing.rate(flow), 3);
  sharing.remove(flows[0]);
  sharing.solve();
  EXPECT_DOUBLE_EQ(sharing.rate(flows[1]), 4.5);
  EXPECT_TRUE(sharing.solve().empty());
}

// What fixing flows in the order of their first shares gets wrong: A would get 5.0.
TEST(Sharing, FindsTheMaxMinWhereShortCutsDoNot) {
  Sharing sharing({0.2, 6, 10, 6});
  const int e = sharing.add(Links{0, 1});
  const int f = sharing.add(Links{0, 1});
  const int a = sharing.add(Links{1, 2});
  const int b = sharing.add(Links{2, 3});
  const int c = sharing.add(Links{3});
  sharing.solve();
  EXPECT_DOUBLE_EQ(sharing.rate(e), 0.1);
  EXPECT_DOUBLE_EQ(sharing.rate(f), 0.1);
  EXPECT_DOUBLE_EQ(sharing.rate(a), 5.8);
  EXPECT_DOUBLE_EQ(sharing.rate(b), 3);
  EXPECT_DOUBLE_EQ(sharing.rate(c), 3);
  EXPECT_TRUE(sharing.certified());
}

TEST(Sharing, WeightsAndCapsAreKept) {
  Sharing sharing({12});
  const int light = sharing.add(Links{0}, 1);
  const int heavy = sharing.add(Links{0}, 3);
  const int held = sharing.add(Links{0}, 1, 0.8);
  const int free = sharing.add(Links{}, 1, 5);
  sharing.solve();
  EXPECT_DOUBLE_EQ(sharing.rate(held), 0.8);
  EXPECT_DOUBLE_EQ(sharing.rate(light), 2.8);
  EXPECT_DOUBLE_EQ(sharing.rate(heavy), 8.4);
  EXPECT_DOUBLE_EQ(sharing.rate(free), 5);
  EXPECT_TRUE(sharing.certified());
  sharing.set_cap(held, kNoCap);
  sharing.set_weight(heavy, 1);
  sharing.set_capacity(0, 6);
  sharing.solve();
  EXPECT_DOUBLE_EQ(sharing.rate(held), 2);
  EXPECT_DOUBLE_EQ(sharing.rate(heavy), 2);
}

TEST(Sharing, ALinkThatIsDownCarriesNothing) {
  Sharing sharing({0, 5});
  const int stuck = sharing.add(Links{0, 1});
  const int other = sharing.add(Links{1});
  sharing.solve();
  EXPECT_EQ(sharing.rate(stuck), 0);
  EXPECT_DOUBLE_EQ(sharing.rate(other), 5);
  EXPECT_TRUE(sharing.certified());
}

TEST(Sharing, WhatIsNotTouchedStaysAsItIs) {
  Sharing sharing({10, 10});
  const int left = sharing.add(Links{0});
  const int right = sharing.add(Links{1});
  sharing.solve();
  sharing.add(Links{1});
  const auto changed = sharing.solve();
  EXPECT_EQ(std::count(changed.begin(), changed.end(), left), 0);
  EXPECT_EQ(std::count(changed.begin(), changed.end(), right), 1);
}

TEST(Sharing, ACertificateRefusesWhatIsNotMaxMin) {
  Sharing sharing({10});
  sharing.add(Links{0});
  sharing.solve();
  EXPECT_TRUE(sharing.certified());
  sharing.set_capacity(0, 5);
  EXPECT_FALSE(sharing.certified()) << "more than the link carries";
  sharing.set_capacity(0, 20);
  EXPECT_FALSE(sharing.certified()) << "less than the flow could have";
}

// The manual of SimGrid, docs/source/Models.rst: latency times 13.01, 97 % of the rate, and 5 % of it
// for what comes back over the same link: 100 kB over 1 Mbit/s and 10 ms take 0.996079 s.
TEST(Sharing, GivesSimGridsValueForItsDefaultModel) {
  Sharing sharing({0.97 * 1e6 / 8 / 1.05});
  const int flow = sharing.add(Links{0});
  sharing.solve();
  EXPECT_NEAR(13.01 * 0.01 + 1e5 / sharing.rate(flow), 0.996079, 1e-6);
}

// The same for its model CM02: a window of 4 MiB over two latencies is a cap. 10 GB over 10 GB/s.
TEST(Sharing, GivesSimGridsValuesForWindows) {
  const std::vector<std::pair<double, double>> expected{
      {1e-5, 1.00001}, {1e-3, 4.77}, {0.1, 476.84}};
  for (const auto& [latency_s, time_s] : expected) {
    Sharing sharing({1e10});
    const int flow = sharing.add(Links{0}, 1, 4194304 / (2 * latency_s));
    sharing.solve();
    EXPECT_NEAR((latency_s + 1e10 / sharing.rate(flow)) / time_s, 1, 3e-4) << latency_s;
  }
}

// The middle link has room: what happens on one side is nothing to the other, until it fills.
TEST(Sharing, LinksWithRoomCoupleNobody) {
  Sharing sharing({4, 100, 6});
  const int left = sharing.add(Links{0, 1});
  const int right = sharing.add(Links{1, 2});
  sharing.solve();
  const int more = sharing.add(Links{0, 1});
  EXPECT_EQ(sharing.solve().size(), 2U);
  EXPECT_DOUBLE_EQ(sharing.rate(left), 2);
  EXPECT_DOUBLE_EQ(sharing.rate(more), 2);
  EXPECT_DOUBLE_EQ(sharing.rate(right), 6);
  sharing.set_capacity(1, 9);
  sharing.solve();
  EXPECT_DOUBLE_EQ(sharing.rate(right), 5);
  EXPECT_TRUE(sharing.certified());
}

/// A network and flows over it, drawn.
struct Case {
  std::vector<double> capacities;
  std::vector<Links> routes;
  std::vector<double> weights;
  std::vector<double> caps;
};

Case drawn(Random& random) {
  Case made;
  // Where links are many, most of a flow's are its own.
  const bool are_many = random.uniform() < 0.5;
  const auto links = 1 + static_cast<std::size_t>(random.uniform() * (are_many ? 100 : 12));
  for (std::size_t i = 0; i < links; ++i) {
    made.capacities.push_back(random.uniform() < 0.05 ? 0 : 0.1 + 10 * random.uniform());
  }
  const auto flows = 1 + static_cast<std::size_t>(random.uniform() * 30);
  for (std::size_t i = 0; i < flows; ++i) {
    Links route;
    for (std::size_t link = 0; link < links; ++link) {
      if (random.uniform() < (are_many ? 0.04 : 0.25)) route.push_back(static_cast<int>(link));
    }
    if (route.empty()) route.push_back(0);
    made.routes.push_back(route);
    made.weights.push_back(random.uniform() < 0.5 ? 1 : 0.1 + 4 * random.uniform());
    made.caps.push_back(random.uniform() < 0.7 ? kNoCap : 3 * random.uniform());
  }
  return made;
}

TEST(Sharing, IsMaxMinInRandomCases) {
  Random random(1, "sharing");
  for (int round = 0; round < 2000; ++round) {
    const Case made = drawn(random);
    Sharing sharing(made.capacities);
    std::vector<int> flows;
    for (std::size_t i = 0; i < made.routes.size(); ++i) {
      flows.push_back(sharing.add(made.routes[i], made.weights[i], made.caps[i]));
      if (random.uniform() < 0.3) sharing.solve();  // together or one after another: no matter
    }
    sharing.solve();
    ASSERT_TRUE(sharing.certified()) << round;
    for (std::size_t i = 0; i < flows.size(); i += 3) sharing.remove(flows[i]);
    sharing.solve();
    ASSERT_TRUE(sharing.certified()) << round;
    // Anything may change, one by one.
    for (int change = 0; change < 5; ++change) {
      const auto flow =
          static_cast<std::size_t>(random.uniform() * static_cast<double>(flows.size()));
      const auto link =
          static_cast<int>(random.uniform() * static_cast<double>(made.capacities.size()));
      const double value = 0.1 + 5 * random.uniform();
      if (change % 2 == 0) sharing.set_capacity(link, value);
      if (change % 2 == 1 && flow % 3 != 0) sharing.set_cap(flows[flow], value);
      sharing.solve();
      ASSERT_TRUE(sharing.certified()) << round;
    }
  }
}

// Rates do not depend on names and scale with capacities and caps.
TEST(Sharing, IsInvariantUnderRenamingAndScaling) {
  Random random(2, "sharing");
  for (int round = 0; round < 300; ++round) {
    const Case made = drawn(random);
    Sharing plain(made.capacities);
    std::vector<double> doubled(made.capacities.rbegin(), made.capacities.rend());
    for (double& capacity : doubled) capacity *= 2;
    Sharing other(doubled);
    std::vector<int> first, second(made.routes.size());
    for (std::size_t i = 0; i < made.routes.size(); ++i) {
      first.push_back(plain.add(made.routes[i], made.weights[i], made.caps[i]));
    }
    const int last = static_cast<int>(made.capacities.size()) - 1;
    for (std::size_t i = made.routes.size(); i-- > 0;) {
      Links route;
      for (const int link : made.routes[i]) route.push_back(last - link);
      second[i] = other.add(route, made.weights[i], 2 * made.caps[i]);
    }
    plain.solve();
    other.solve();
    for (std::size_t i = 0; i < first.size(); ++i) {
      ASSERT_NEAR(2 * plain.rate(first[i]), other.rate(second[i]),
                  1e-9 * (1 + other.rate(second[i])));
    }
  }
}

// One flow weighs eleven orders of magnitude more than those beside it, and is at its cap.
TEST(Sharing, AHeavyFlowDoesNotHideLightOnes) {
  Sharing sharing({100, 100});
  const std::vector<int> both{0, 1};
  const std::vector<int> second{1};
  sharing.add(second, 5e7, 40);
  const int light = sharing.add(both, 7.9e-4);
  const int lighter = sharing.add(second, 7.9e-4);
  sharing.solve();
  EXPECT_NEAR(sharing.rate(light), 30, 1e-9);
  EXPECT_NEAR(sharing.rate(lighter), 30, 1e-9);
  EXPECT_TRUE(sharing.certified());
}

}  // namespace
}  // namespace tw::fluid
