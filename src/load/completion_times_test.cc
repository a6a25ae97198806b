// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/completion_times.h"

#include <gmock/gmock.h>

namespace tw::load {
namespace {

using namespace std::chrono_literals;

TEST(CompletionTimes, AreBySizeAndTellWhatHadNotFinished) {
  CompletionTimes times;
  times.finish(100'000, 10us);
  times.finish(100'001, 1ms);
  times.censor(10'000'001);
  CompletionTimes others;
  others.finish(1, 30us);
  times.add(others);
  const std::vector<CompletionClass> classes = times.classes();
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].n, 2);
  EXPECT_NEAR(classes[0].mean_s, 20e-6, 1e-12);
  EXPECT_EQ(classes[1].from, Bytes(100'000));
  EXPECT_EQ(classes[1].to, 10_MB);
  EXPECT_EQ(classes[1].n, 1);
  EXPECT_EQ(classes[2].n, 0);
  EXPECT_EQ(classes[2].censored, 1);
  EXPECT_FALSE(classes[2].to);
}

}  // namespace
}  // namespace tw::load
