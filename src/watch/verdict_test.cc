// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/verdict.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>

namespace tw::watch {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// The next larger number, to stand just behind a threshold.
double above(double threshold) { return std::nextafter(threshold, 1); }

TEST(WatchVerdict, OfAQuietMachineIsFineWithoutReasons) {
  EXPECT_EQ(verdict({}), WatchVerdict{});
  EXPECT_EQ(verdict({.wait = 0.15, .busy = 0.60, .steal = 0.02}), WatchVerdict{});
}

TEST(WatchVerdict, OfWaitingChangesAt15And30Percent) {
  EXPECT_EQ(verdict({.wait = above(0.15)}).level, WatchLevel::Caution);
  EXPECT_EQ(verdict({.wait = 0.30}).level, WatchLevel::Caution);
  EXPECT_EQ(verdict({.wait = above(0.30)}).level, WatchLevel::CpuBound);
  EXPECT_THAT(verdict({.wait = 0.221}).reasons,
              ElementsAre("a process waited 22.1 % of the time for a processor (more than 15 %)"));
}

TEST(WatchVerdict, OfABusyMachineChangesAt60And80Percent) {
  EXPECT_EQ(verdict({.busy = above(0.60)}).level, WatchLevel::Caution);
  EXPECT_EQ(verdict({.busy = 0.80}).level, WatchLevel::Caution);
  EXPECT_EQ(verdict({.busy = above(0.80)}).level, WatchLevel::CpuBound);
  EXPECT_THAT(verdict({.busy = 0.97}).reasons,
              ElementsAre("the machine was 97.0 % busy (more than 80 %)"));
}

TEST(WatchVerdict, DoesNotMindABusyMachineWhileWorkersCompute) {
  EXPECT_EQ(verdict({.busy = 1}, {.computes = true}), WatchVerdict{});
  EXPECT_EQ(verdict({.wait = 0.31, .busy = 1}, {.computes = true}).level, WatchLevel::CpuBound);
}

TEST(WatchVerdict, OfStealAbove2PercentIsVoid) {
  EXPECT_EQ(verdict({.steal = above(0.02)}).level, WatchLevel::Void);
  EXPECT_THAT(
      verdict({.steal = 0.09}).reasons,
      ElementsAre("the hypervisor took 9.0 % of the processors' time away (more than 2 %)"));
}

TEST(WatchVerdict, OfLatenessKnowsTheLargerOf1MsAndATenthOfTheDelay) {
  const auto level = [](Duration p99, Duration delay) {
    return verdict({}, {.lateness = ReleaseLateness{.p99 = p99, .delay = delay}}).level;
  };
  // 1 ms for delays up to 10 ms, 5 ms for 50 ms.
  EXPECT_EQ(level(1ms, 500us), WatchLevel::Fine);
  EXPECT_EQ(level(1ms + 1ns, 10ms), WatchLevel::Caution);
  EXPECT_EQ(level(5ms, 50ms), WatchLevel::Fine);
  EXPECT_EQ(level(5ms + 1ns, 50ms), WatchLevel::Caution);
  EXPECT_THAT(
      verdict({}, {.lateness = ReleaseLateness{.p99 = 7ms, .delay = 50ms}}).reasons,
      ElementsAre(
          "one packet in a hundred was released 7 ms or more after its time (more than 5 ms)"));
}

TEST(WatchVerdict, OfPacketsThatAreLateByMoreThanTheirLinkIsBound) {
  const auto late = [](Duration p99) {
    return verdict({}, {.lateness = ReleaseLateness{.p99 = p99, .delay = 1ms}}).level;
  };
  EXPECT_EQ(late(5ms), WatchLevel::Caution);
  EXPECT_EQ(late(8ms), WatchLevel::CpuBound);
}

TEST(WatchVerdict, OfANetworkThatStoodStillSeesTheLongestOnly) {
  const auto stalled = [](Duration longest) {
    return verdict({},
                   {.lateness = ReleaseLateness{.p99 = 50us, .delay = 1ms, .longest = longest}});
  };
  EXPECT_EQ(stalled(100ms).level, WatchLevel::Fine);
  EXPECT_EQ(stalled(300ms).level, WatchLevel::Caution);
  EXPECT_EQ(stalled(4194ms).level, WatchLevel::CpuBound);
  EXPECT_THAT(stalled(4194ms).reasons.at(0), testing::HasSubstr("stood still"));
}

TEST(WatchVerdict, HasTheWorstLevelAndAllReasons) {
  const WatchVerdict all = verdict({.wait = 0.2, .busy = 0.9, .steal = 0.05});
  EXPECT_EQ(all.level, WatchLevel::Void);
  EXPECT_EQ(all.reasons.size(), 3);
  EXPECT_EQ(level_name(all.level), "void");
}

}  // namespace
}  // namespace tw::watch
