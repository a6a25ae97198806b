// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/likelihood.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tw::recognise {
namespace {

Recognition named(const std::string& strategy, double nats, double payload = 1000) {
  return {.operation = "all_reduce",
          .strategy = strategy,
          .order = {},
          .servers = {},
          .starters = {},
          .payload = payload,
          .evidence = {},
          .nats = nats};
}

// A pair that fits exactly is -ln(2 * 1 %) = 3.9 likelier than any amount; that is lost where it is
// off by 3.9 scales of 1 %.
TEST(Likelihood, OfAPairFallsToNothingAtTheWidestDifference) {
  EXPECT_NEAR(widest_difference(), 0.0391, 1e-4);
  const Pattern even({0, 1}, {0, 100, 100, 0});
  EXPECT_NEAR(even_pairs(even, 0), 2 * 3.912, 1e-3);
  EXPECT_NEAR(pairs_off(even, 2 * widest_difference(), 0), 0, 1e-9);
}

// Of 3 hosts 3 of 6 pairs can be joined in 20 ways, as a ring in 2.
TEST(Likelihood, CountsInHowManyWaysPairsCanBeJoined) {
  const Pattern ring({0, 1, 2}, {0, 9, 0, 0, 0, 9, 9, 0, 0});
  EXPECT_NEAR(even_pairs(ring, orders(2)), 3 * 3.912 + std::log(20.0 / 2), 1e-3);
}

TEST(Likelihood, OfALawIsNothingWhereHalfOfTheObservationsKeepIt) {
  EXPECT_EQ(law(0.5, 0.5, 20), 0);
  EXPECT_GT(law(1, 0.5, 20), 0);
  EXPECT_DOUBLE_EQ(law(0, 0.5, 20), -law(1, 0.5, 20));
  EXPECT_DOUBLE_EQ(law(1, 0.8, 100), law(1, 0.8, 8)) << "steps of one capture err alike";
  EXPECT_LT(law(1, 0.5, 2), law(1, 0.5, 3));
}

TEST(Posterior, NamesTheRunnerUp) {
  // e^0 and e^-ln 3: three to one, and nothing to speak of for the unknown.
  const auto found = best_of({named("star", 20 - std::log(3)), named("ring", 20)});
  ASSERT_TRUE(found && found->runner_up);
  EXPECT_EQ(found->strategy, "ring");
  EXPECT_NEAR(found->fit, 0.75, 1e-6);
  EXPECT_NEAR(found->payload_fit, 1, 1e-6) << "both have the same bytes";
  EXPECT_EQ(found->runner_up->strategy, "star");
  EXPECT_NEAR(found->runner_up->probability, 0.25, 1e-6);
}

TEST(Posterior, TellsStrategyFromBytes) {
  const auto found = best_of({named("ring", 20, 1000), named("ring", 20, 800)});
  ASSERT_TRUE(found && found->runner_up);
  EXPECT_NEAR(found->fit, 1, 1e-6);
  EXPECT_NEAR(found->payload_fit, 0.5, 1e-6);
  EXPECT_EQ(found->runner_up->payload, 800);
}

TEST(Posterior, TakesNothingThatIsNoBetterThanTheUnknown) {
  EXPECT_FALSE(best_of({}));
  EXPECT_FALSE(best_of({named("ring", -1)}));
  EXPECT_NEAR(best_of({named("ring", std::log(4))})->fit, 0.8, 1e-9);
}

TEST(Posterior, YieldsToARival) {
  Recognition ring = named("ring", 20);
  yield_to(ring, {.operation = "all_gather",
                  .strategy = "ring",
                  .ranks_on_each = 1,
                  .payload = 700,
                  .probability = 0.1});
  EXPECT_NEAR(ring.fit, 0.9, 1e-12);
  EXPECT_NEAR(ring.payload_fit, 0.9, 1e-12);
  ASSERT_TRUE(ring.runner_up);
  EXPECT_EQ(ring.runner_up->operation, "all_gather");
}

}  // namespace
}  // namespace tw::recognise
