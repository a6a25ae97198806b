// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rdma/dcqcn.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace tw::rdma {
namespace {

using namespace std::chrono_literals;

TEST(Dcqcn, ANoticeHalvesTheRateAndItReturns) {
  Dcqcn dcqcn(dcqcn_of_cards(100_Gbit), 100_Gbit);
  EXPECT_EQ(dcqcn.rate(1s), 100e9);
  dcqcn.notified(1s);
  EXPECT_EQ(dcqcn.rate(1s + 3us), 100e9);
  // Alpha begins at 1 and has fallen in four periods without a further notice.
  const double cut = 100e9 * (1 - std::pow(255.0 / 256, 4) / 2);
  EXPECT_NEAR(dcqcn.rate(1s + 4us), cut, 1);
  EXPECT_NEAR(dcqcn.rate(1s + 304us), (cut + 100e9) / 2, 1);
  EXPECT_EQ(dcqcn.rate(2s), 100e9);
}

TEST(Dcqcn, CutsInARowKeepTheTarget) {
  Dcqcn dcqcn(dcqcn_of_cards(100_Gbit), 100_Gbit);
  dcqcn.notified(0s);
  dcqcn.notified(50us);
  const double low = dcqcn.rate(100us);
  EXPECT_LT(low, 35e9);
  EXPECT_NEAR(dcqcn.rate(352us), (low + 100e9) / 2, 1);
}

TEST(Dcqcn, TheRateHasABottom) {
  Dcqcn dcqcn(dcqcn_of_cards(25_Gbit), 25_Gbit);
  for (int i = 0; i < 1000; ++i) dcqcn.notified(i * 50us);
  EXPECT_EQ(dcqcn.rate(50ms), 100e6);
}

// Asked often or seldom, the answer is the same.
TEST(Dcqcn, AskingChangesNothing) {
  Dcqcn often(dcqcn_of_paper(25_Gbit), 25_Gbit);
  Dcqcn seldom(dcqcn_of_paper(25_Gbit), 25_Gbit);
  for (int i = 0; i < 5000; ++i) {
    const Duration now = i * 7us;
    often.rate(now);
    if (i % 300 < 40) often.notified(now);
    if (i % 300 < 40) seldom.notified(now);
  }
  EXPECT_NEAR(often.rate(40ms), seldom.rate(40ms), 1);
  EXPECT_NEAR(often.alpha(), seldom.alpha(), 1e-9);
}

}  // namespace
}  // namespace tw::rdma
