// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/confidence.h"

#include <gtest/gtest.h>

namespace tw::diagnose {
namespace {

TEST(Confidence, RisesWithTheScoreAndIsNeverCertain) {
  for (const Claim claim :
       {Claim::Steps, Claim::Strategy, Claim::Bytes, Claim::SlowLink, Claim::Straggler}) {
    double before = 0;
    for (const double score : {0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0}) {
      const double now = confidence(claim, score);
      EXPECT_GE(now, before);
      EXPECT_GE(now, 0.02);
      EXPECT_LE(now, 0.98);
      before = now;
    }
    EXPECT_GT(before, 0.5);
  }
}

}  // namespace
}  // namespace tw::diagnose
