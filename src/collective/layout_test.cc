// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/layout.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace tw::collective {
namespace {

using testing::ElementsAre;

TEST(Evenly, KeepsNeighboursTogetherAndCountsWithinOne) {
  // floor(r * 3 / 7) for r = 0..6.
  EXPECT_THAT(evenly(7, 3).host_of, ElementsAre(0, 0, 0, 1, 1, 2, 2));
  EXPECT_THAT(evenly(8, 2).host_of, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(Evenly, FillsTheFirstHostsWhenThereAreMoreHostsThanRanks) {
  EXPECT_EQ(evenly(2, 5), (Layout{.hosts = 5, .host_of = {0, 1}}));
  EXPECT_EQ(evenly(0, 1).ranks(), 0);
}

TEST(Evenly, RefusesNoHostsAndNegativeRanks) {
  EXPECT_THROW(evenly(1, 0), std::logic_error);
  EXPECT_THROW(evenly(-1, 1), std::logic_error);
}

TEST(Masters, AreTheFirstRanksOfHostsThatHoldAny) {
  EXPECT_THAT(masters(evenly(7, 3)), ElementsAre(0, 3, 5));
  // Host 1 holds nobody; rank order decides, not host order.
  EXPECT_THAT(masters({.hosts = 4, .host_of = {3, 0, 3, 2, 0}}), ElementsAre(0, 1, 3));
}

}  // namespace
}  // namespace tw::collective
