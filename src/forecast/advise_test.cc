// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/advise.h"

#include "trainwire/base/error.h"
#include "trainwire/forecast/need.h"
#include "trainwire/forecast/test_experiments.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tw::forecast {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kServer =
    "[network]\nhosts = 8\nrate = \"1Gbit\"\ndelay = \"50us\"\n[[job]]\nstrategy = "
    "\"ps\"\nparameters = \"10MB\"\n"
    "compute_time = \"100ms\"\nsteps = 6\nwarmup = 1\n";

Variants variants_of(const std::string& text) {
  return [text](const std::vector<std::string>& sets) { return parsed(text, sets); };
}

std::string said(const std::function<void()>& work) {
  try {
    work();
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

const Choice* choice_of(const Advice& advice, const std::string& setting) {
  const auto found = std::find_if(
      advice.choices.begin(), advice.choices.end(),
      [&](const Choice& choice) { return choice.settings == std::vector<std::string>{setting}; });
  return found == advice.choices.end() ? nullptr : &*found;
}

TEST(Advise, ManyWorkersOfOneServerAreToldToGoAround) {
  const Advice advice = advise(parsed(kServer), variants_of(kServer));
  ASSERT_FALSE(advice.choices.empty());
  const Choice* ring = choice_of(advice, "job.strategy=ring");
  ASSERT_NE(ring, nullptr);
  // 100 + 146.4 ms, not 100 + 2 * 7 * 83.6 ms.
  EXPECT_NEAR(ring->step.median_s, 0.2465, 0.001);
  // Eight train, not seven: 246.5 / 8 instead of 1271 / 7 for a worker's samples.
  EXPECT_NEAR(ring->change, 246.5 / 8 / (1271.0 / 7) - 1, 0.01);
  EXPECT_TRUE(ring->clear);
  EXPECT_TRUE(std::is_sorted(advice.choices.begin(), advice.choices.end(),
                             [](const Choice& a, const Choice& b) { return a.change < b.change; }));
}

TEST(Advise, SwitchesThatSumAndCopyTakeTheLoadOffTheServer) {
  const Advice advice = advise(parsed(kServer), variants_of(kServer));
  const auto both =
      std::find_if(advice.choices.begin(), advice.choices.end(), [](const Choice& choice) {
        return choice.kind == "in the network" && choice.settings.size() == 2;
      });
  ASSERT_NE(both, advice.choices.end());
  EXPECT_LT(both->step.median_s, 0.1 + 2.5 * 0.0837);
}

TEST(Advise, BucketsAreNotForAModelOfOneTensor) {
  const auto buckets = [](const Advice& advice) {
    return std::count_if(advice.choices.begin(), advice.choices.end(),
                         [](const Choice& choice) { return choice.kind == "bucket"; });
  };
  const Advice one = advise(parsed(kServer), variants_of(kServer));
  EXPECT_EQ(buckets(one), 0);
  EXPECT_THAT(one.left_out, HasSubstr("one tensor"));
  const std::string several =
      "[network]\nhosts = 2\n[[job]]\nmodel = \"resnet50\"\ncompute_time = \"100ms\"\n";
  const Advice many = advise(parsed(several), variants_of(several));
  EXPECT_GT(buckets(many), 0);
  EXPECT_EQ(many.left_out, "");
}

TEST(Advise, TellsWhereTheOrderChanges) {
  const std::string text =
      "[network]\nhosts = 16\nrate = \"1Gbit\"\ndelay = \"200us\"\n[[job]]\nmodel = \"resnet50\"\n"
      "compute_time = \"100ms\"\nsteps = 6\nwarmup = 1\n";
  const Advice advice = advise(parsed(text), variants_of(text));
  const auto found = std::find_if(advice.crossings.begin(), advice.crossings.end(),
                                  [](const Crossing& each) { return each.of == "gradient bytes"; });
  ASSERT_NE(found, advice.crossings.end());
  EXPECT_EQ(found->first, "job.strategy=ring");
  // Rings wait for 30 ways of 0.4 ms, whoever has fewer rounds is ahead below: some 12 ms of the line.
  EXPECT_GT(found->value, 1e4);
  EXPECT_LT(found->value, 2e7);
}

TEST(Advise, NamesNoChoiceTwice) {
  const std::string text =
      "[network]\nhosts = 4\n[[job]]\nparameters = \"1MB\"\ncompute_time = \"10ms\"\nsteps = 3\n";
  std::set<std::vector<std::string>> settings;
  const Advice advice = advise(parsed(text), variants_of(text));
  for (const Choice& choice : advice.choices) {
    EXPECT_TRUE(settings.insert(choice.settings).second) << choice.settings.front();
  }
  EXPECT_TRUE(settings.contains({"job.strategy=ps"}));
  EXPECT_FALSE(settings.contains({"job.strategy=ps", "job.servers=1"}));
}

// What experts exchange no server can sum.
TEST(Advise, OffersNoSumForWhatIsNone) {
  const std::string text =
      "[network]\nhosts = 4\n[[job]]\nstrategy = \"all_to_all\"\nparameters = \"1MB\"\n"
      "compute_time = \"10ms\"\nsteps = 3\n";
  for (const Choice& choice : advise(parsed(text), variants_of(text)).choices) {
    EXPECT_THAT(choice.settings.front(), Not(HasSubstr("job.strategy"))) << choice.kind;
  }
}

const std::string kGoal =
    "[network]\nhosts = 4\nrate = \"1Gbit\"\ndelay = \"50us\"\n[[job]]\nparameters = \"10MB\"\n"
    "compute_time = \"100ms\"\nsteps = 6\nwarmup = 1\n";

// A link that is slower needs what all links need, not its present share of it. Of equal links the
// formula tells, of others flows do, whose rounds are a train longer.
TEST(Need, IsOfEveryLink) {
  const std::string slow = kGoal + "[[network.link]]\nat = \"host2\"\nrate = \"100Mbit\"\n";
  const Need alike = need_of(parsed(kGoal), parse_goal("efficiency=0.9"));
  const Need behind = need_of(parsed(slow), parse_goal("efficiency=0.9"));
  EXPECT_NEAR(*behind.rate_bps.value / *alike.rate_bps.value, 1, 0.04);
  EXPECT_TRUE(behind.differ);
  EXPECT_FALSE(alike.differ);
}

TEST(Need, DelayIsThatOfCoreLinksToo) {
  const std::string core = kGoal.substr(0, kGoal.find("[[job]]")) + "topology = \"dumbbell\"\n" +
                           kGoal.substr(kGoal.find("[[job]]"));
  const Need need = need_of(parsed(core), parse_goal("step=300ms"));
  ASSERT_TRUE(need.delay_s.value);
  const auto delay =
      "network.delay=" + std::to_string(std::lround(1e9 * *need.delay_s.value)) + "ns";
  EXPECT_NEAR(step_times(parsed(core, {delay})).front().median_s, 0.3, 0.003);
}

TEST(Need, OfSeveralJobsIsTheFirstOnes) {
  const std::string two =
      kGoal +
      "hosts = [\"host0\", \"host1\"]\n[[job]]\nname = \"b\"\nparameters = \"1MB\"\n"
      "compute_time = \"10ms\"\nsteps = 6\nhosts = [\"host2\", \"host3\"]\n";
  EXPECT_EQ(need_of(parsed(two), parse_goal("step=300ms")).job, "job0");
  EXPECT_EQ(need_of(parsed(kGoal), parse_goal("step=300ms")).job, "");
}

TEST(Need, IsTheBandwidthWithWhichTheGoalIsReached) {
  const std::string text =
      "[network]\nhosts = 4\nrate = \"1Gbit\"\ndelay = \"50us\"\n[[job]]\nparameters = \"10MB\"\n"
      "compute_time = \"100ms\"\nsteps = 6\nwarmup = 1\n";
  const Need need = need_of(parsed(text), parse_goal("efficiency=0.9"));
  EXPECT_FALSE(need.is_met);
  EXPECT_NEAR(need.step_s, 0.1111, 1e-4);
  // 15 MB over the line in 11.1 ms less 0.1 ms of way: 11.4 Gbit/s with headers.
  ASSERT_TRUE(need.rate_bps.value);
  EXPECT_NEAR(*need.rate_bps.value, 1.5 * 10e6 * 8 * 1514 / 1448 / 0.01101, 0.02e9 * 11);
  EXPECT_LT(*need.rate_bps.low, *need.rate_bps.value);
  EXPECT_GT(*need.rate_bps.high, *need.rate_bps.value);
  ASSERT_TRUE(need.delay_s.value);
  EXPECT_GT(*need.delay_s.value, 50e-6);
  ASSERT_TRUE(need.loss.value);
  EXPECT_LT(*need.loss.value, 0.05);
}

TEST(Need, SaysWhatNoBandwidthReaches) {
  const std::string text =
      "[network]\nhosts = 4\nrate = \"1Gbit\"\ndelay = \"50ms\"\n[[job]]\nparameters = \"10MB\"\n"
      "compute_time = \"10ms\"\nsteps = 6\nwarmup = 1\n";
  const Need need = need_of(parsed(text), parse_goal("efficiency=0.9"));
  EXPECT_FALSE(need.is_possible);
  EXPECT_THAT(need.problem, HasSubstr("no bandwidth is enough"));
}

TEST(Need, GoalsAreReadOrRefused) {
  EXPECT_EQ(parse_goal("efficiency=90%").efficiency, 0.9);
  EXPECT_EQ(parse_goal("step=100ms").step_s, 0.1);
  for (const char* wrong :
       {"efficiency=1.5", "efficiency", "speed=3", "step=0ms", "efficiency=0"}) {
    EXPECT_THAT(said([&] { parse_goal(wrong); }), HasSubstr("a goal is needed")) << wrong;
  }
}

}  // namespace
}  // namespace tw::forecast
