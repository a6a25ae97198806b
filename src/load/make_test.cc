// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/make.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tw::load {
namespace {

using namespace std::chrono_literals;
using spec::TrafficKind;
using testing::HasSubstr;

Demand burst_of_the_thesis() {
  return {.kind = TrafficKind::Burst, .rate = 6_Gbit, .duration = 10s, .destination = "sink"};
}

std::string problem(const Demand& demand) {
  try {
    FlowStream stream(demand);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(WebSearch, MeetsItsRateOverTheRun) {
  // 800 Mbit/s for 10 s are 1 GB; only sizes are rounded, by half a byte each of about 584.
  const Load load = make_load({.rate = 800_Mbit, .duration = 10s});
  EXPECT_NEAR(static_cast<double>(load.total().count()), 1e9, 600);
  EXPECT_NEAR(static_cast<double>(load.flows.size()), 1e9 / 1711250, 3);
}

TEST(WebSearch, WithoutAnEndMeetsItsRateOverEveryBlock) {
  // 128 flows of 1.71 MB are a block: 2.19 s at 800 Mbit/s. After 100 of them the bytes of starts
  // differ from rate * time by at most a block.
  FlowStream stream({.rate = 800_Mbit});
  double bytes = 0;
  Duration last = {};
  for (int i = 0; i < 12'800; ++i) {
    const auto flow = stream.next();
    ASSERT_TRUE(flow);
    ASSERT_GE(flow->start, last);
    last = flow->start;
    bytes += static_cast<double>(flow->size.count());
  }
  EXPECT_NEAR(bytes / seconds(last), 1e8, 1e8 * 0.01);
}

TEST(WebSearch, SizesFollowTheDistribution) {
  // Kolmogorov-Smirnov against the table: stratified draws stay closer than 1.36 / sqrt(n).
  const SizeDistribution sizes = distribution_named("websearch");
  FlowStream stream({.rate = 800_Mbit});
  std::vector<double> drawn;
  for (int i = 0; i < 12'800; ++i)
    drawn.push_back(static_cast<double>(stream.next()->size.count()));
  std::sort(drawn.begin(), drawn.end());
  double worst = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(drawn.size());
    // The distance in shares: where the table reaches that size.
    double low = 0;
    double high = 1;
    for (int step = 0; step < 40; ++step) {
      const double middle = (low + high) / 2;
      (sizes.quantile(middle) < drawn[i] ? low : high) = middle;
    }
    worst = std::max(worst, std::abs(low - share));
  }
  EXPECT_LT(worst, 1.36 / std::sqrt(12'800.0));
}

TEST(WebSearch, GapsAreExponential) {
  // An exponential gap exceeds its mean with probability 1/e; standard error 0.0043 of 12,800.
  FlowStream stream({.rate = 800_Mbit});
  std::vector<double> gaps;
  Duration last = {};
  for (int i = 0; i < 12'800; ++i) {
    const Duration start = stream.next()->start;
    gaps.push_back(seconds(start - last));
    last = start;
  }
  const double mean = seconds(last) / 12'800;
  const auto longer = std::count_if(gaps.begin(), gaps.end(), [&](double g) { return g > mean; });
  EXPECT_NEAR(static_cast<double>(longer) / 12'800, std::exp(-1), 3 * 0.0043 + 0.003);
}

TEST(WebSearch, OfLittleVolumeHasEightSmallFlows) {
  // 1 Mbit/s for 1 s are 125 kB, less than one flow of the mean size.
  const Load load = make_load({.rate = 1_Mbit, .duration = 1s});
  EXPECT_EQ(load.flows.size(), 8u);
  EXPECT_NEAR(static_cast<double>(load.total().count()), 125'000, 8);
}

TEST(WebSearch, OfHeavyTailsEndsOnItsVolumeToo) {
  const Load load = make_load(
      {.rate = 1_Gbit, .duration = 20s, .distribution = distribution_named("datamining")});
  EXPECT_NEAR(static_cast<double>(load.total().count()), 2.5e9, 2.5e9 * 0.02);
}

TEST(Burst, CarriesTheRatesOfTheThesis) {
  // 6 Gbit/s: 7.5 MB a period; 1 ms at three times that is 2.25 MB, 18 Gbit/s; the other 5.25 MB in
  // 9 ms are 4.667 Gbit/s. 1,000 periods.
  const Load load = make_load(burst_of_the_thesis());
  const BurstRates rates = burst_rates(load, 1ms, 10ms);
  EXPECT_NEAR(rates.inside.bits_per_second(), 18e9, 0.02 * 18e9);
  EXPECT_NEAR(rates.outside.bits_per_second(), 4.667e9, 0.02 * 4.667e9);
  EXPECT_NEAR(load.mean_rate().bits_per_second(), 6e9, 1e5);
}

TEST(Burst, HasTwoFlowsInEachBurstAndAtLeastEightBetween) {
  const Load load = make_load(burst_of_the_thesis());
  std::vector<int> inside(1000);
  std::vector<int> outside(1000);
  std::vector<double> bytes(1000);
  for (const Flow& flow : load.flows) {
    const auto period = static_cast<std::size_t>(flow.start / 10ms);
    ++(flow.start % 10ms < 1ms ? inside : outside).at(period);
    bytes[period] += static_cast<double>(flow.size.count());
  }
  EXPECT_THAT(inside, testing::Each(2));
  EXPECT_THAT(outside, testing::Each(testing::Ge(8)));
  EXPECT_THAT(bytes, testing::Each(testing::DoubleNear(7.5e6, 10)));
}

TEST(Burst, OfAllBytesLeavesNothingBetween) {
  Demand demand = burst_of_the_thesis();
  demand.burst_height = 10;
  const Load load = make_load(demand);
  EXPECT_EQ(load.flows.size(), 2000u);
  EXPECT_EQ(burst_rates(load, 1ms, 10ms).outside, BitRate());
}

TEST(Constant, IsEqualFlowsAtEqualDistances) {
  // 1 Gbit/s: 125 kB each millisecond.
  const Load load = make_load({.kind = TrafficKind::Constant, .rate = 1_Gbit, .duration = 1s});
  ASSERT_EQ(load.flows.size(), 1000u);
  EXPECT_EQ(load.flows[500], (Flow{.start = 500ms, .size = 125'000_B}));
}

TEST(Long, IsAllOfItAtOnce) {
  const Load load =
      make_load({.kind = TrafficKind::Long, .rate = 1_Gbit, .duration = 8s, .flows = 4});
  ASSERT_EQ(load.flows.size(), 4u);
  EXPECT_EQ(load.flows[3], (Flow{.start = 0s, .size = 250_MB}));
}

TEST(FlowStream, OfASeedAndANameIsTheSame) {
  Demand demand = burst_of_the_thesis();
  demand.duration = 1s;
  const Load load = make_load(demand);
  EXPECT_EQ(make_load(demand), load);
  demand.stream = "other";
  EXPECT_NE(make_load(demand), load);
  demand.stream = "traffic";
  demand.seed = 2;
  EXPECT_NE(make_load(demand), load);
}

TEST(FlowStream, RefusesDemandsThatCannotBe) {
  EXPECT_THAT(problem({.rate = BitRate()}), HasSubstr("a rate above 0"));
  EXPECT_THAT(problem({.rate = 1_Gbit, .duration = 0s}), HasSubstr("longer than 0"));
  EXPECT_THAT(problem({.kind = TrafficKind::File}), HasSubstr("is not computed"));
  EXPECT_THAT(problem({.kind = TrafficKind::Long, .rate = 1_Gbit}), HasSubstr("with a duration"));
  Demand demand = burst_of_the_thesis();
  demand.burst_height = 11;
  EXPECT_THAT(problem(demand), HasSubstr("at most 10 times"));
  demand.burst_height = 1;
  EXPECT_THAT(problem(demand), HasSubstr("more than 1"));
  demand.burst_width = 10ms;
  EXPECT_THAT(problem(demand), HasSubstr("do not fit in a period of 10ms"));
}

TEST(PayloadShare, OfAFullSegmentIs1448Of1514) {
  EXPECT_DOUBLE_EQ(load::payload_share(TrafficKind::WebSearch), 1448.0 / 1514);
  EXPECT_DOUBLE_EQ(load::payload_share(TrafficKind::Constant), 1472.0 / 1514);
  EXPECT_DOUBLE_EQ(load::payload_share(TrafficKind::Long, {.mtu = 9000, .ip_version = 6}),
                   8928.0 / 9014);
  EXPECT_NEAR(load::payload_rate(0.8, 1_Gbit, TrafficKind::Long).bits_per_second(), 765.1e6, 1e5);
}

}  // namespace
}  // namespace tw::load
