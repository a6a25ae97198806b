// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tw {
namespace {

TEST(Random, RepeatsForTheSameSeedAndName) {
  Random a(7, "peers");
  Random b(7, "peers");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Random, DiffersBetweenNamesAndSeeds) {
  EXPECT_NE(Random(7, "peers").next(), Random(7, "sizes").next());
  EXPECT_NE(Random(7, "peers").next(), Random(8, "peers").next());
}

TEST(Random, DrawsEveryValueBelowTheBoundEquallyOften) {
  Random random(1, "dice");
  std::array<int, 6> seen{};
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) ++seen[random.below(6)];
  // Each count is binomial with mean 10,000 and deviation 91: five deviations either side.
  for (const int count : seen) EXPECT_NEAR(count, 10000, 5 * 91);
}

TEST(Random, HasTheMeanAndSpreadItPromises) {
  Random random(2, "moments");
  constexpr int kDraws = 100000;
  double exponential = 0;
  double normal = 0;
  double square = 0;
  for (int i = 0; i < kDraws; ++i) {
    exponential += random.exponential(3);
    const double n = random.normal();
    normal += n;
    square += n * n;
  }
  // Standard errors: 3/sqrt(n) = 0.0095, 0.0032 and sqrt(2/n) = 0.0045; five of each.
  EXPECT_NEAR(exponential / kDraws, 3, 0.048);
  EXPECT_NEAR(normal / kDraws, 0, 0.016);
  EXPECT_NEAR(square / kDraws, 1, 0.023);
}

}  // namespace
}  // namespace tw
