// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recover/culprits.h"

#include <gmock/gmock.h>

namespace tw::recover {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Culprits, AreThoseThatAccountForAllCuts) {
  // A ring of four without rank 1's link: 0 does not reach it, it does not reach 2.
  EXPECT_THAT(culprits({{0, 1}, {1, 2}}), ElementsAre(1));
  // Told from both ends.
  EXPECT_THAT(culprits({{0, 1}, {1, 0}, {2, 1}}), ElementsAre(1));
  EXPECT_THAT(culprits({{0, 1}, {0, 2}, {0, 3}}), ElementsAre(0));
  EXPECT_THAT(culprits({{0, 1}, {1, 2}, {2, 3}, {3, 0}}), ElementsAre(1, 3));
}

TEST(Culprits, OfTwoAreTheLast) { EXPECT_THAT(culprits({{2, 0}}), ElementsAre(2)); }

TEST(Culprits, WithoutCutsAreNobody) { EXPECT_THAT(culprits({}), IsEmpty()); }

}  // namespace
}  // namespace tw::recover
