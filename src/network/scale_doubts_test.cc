// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/scale_doubts.h"

#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>

namespace tw::network {
namespace {

spec::Experiment experiment(const std::string& text) {
  const spec::Vocabulary words{};
  return spec::parse(text, "x.toml", words, {});
}

TEST(ScaleDoubts, TellWhatPacketsThatAreNotScaledChange) {
  const std::string scale = "[run]\nscale = 25";
  EXPECT_TRUE(scale_doubts(experiment("[network]\nloss = 0.01")).empty());
  EXPECT_TRUE(
      scale_doubts(experiment("[network]\nrate = \"25Gbit\"\ndelay = \"1ms\"\n" + scale)).empty());
  const auto loss = scale_doubts(
      experiment("[network]\nrate = \"25Gbit\"\ndelay = \"1ms\"\nloss = 0.01\n" + scale));
  ASSERT_EQ(loss.size(), 1U);
  EXPECT_THAT(loss[0], testing::HasSubstr("links are 25 times slower, so it hurts less here"));
  const auto queue =
      scale_doubts(experiment("[network]\nrate = \"10Gbit\"\ndelay = \"1ms\"\nqueue = \"64KiB\"\n"
                              "allow_shallow_queue = true\n" +
                              scale));
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_THAT(queue[0], testing::HasSubstr("a queue holds 2 packets here"));
  const auto late = scale_doubts(experiment("[network]\nrate = \"1Gbit\"\n" + scale));
  ASSERT_EQ(late.size(), 1U);
  EXPECT_THAT(late[0], testing::HasSubstr("short delays do not show"));
  // The core counts too.
  EXPECT_EQ(
      scale_doubts(
          experiment("[network]\ntopology = \"dumbbell\"\nrate = \"25Gbit\"\ndelay = \"1ms\"\n"
                     "[[network.link]]\nat = \"core\"\nloss = 0.01\n" +
                     scale))
          .size(),
      1U);
}

}  // namespace
}  // namespace tw::network
