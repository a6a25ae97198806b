// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/job.h"

#include "trainwire/diagnose/analysis.h"
#include "trainwire/diagnose/test_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace tw::diagnose {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Transfers between four hosts, at 1 Gbit/s each.
class Transfers {
 public:
  void add(int from, int to, std::int64_t start_ms, std::uint64_t bytes) {
    flow::Flow& flow = flows_[{from, to}];
    const std::int64_t start = start_ms * 1'000'000;
    flow.bursts.push_back({.start_ns = start,
                           .end_ns = start + static_cast<std::int64_t>(bytes) * 8,
                           .bytes = bytes,
                           .packets = static_cast<std::uint32_t>(bytes / 1448 + 1)});
    flow.payload_bytes += bytes;
    flow.packets += bytes / 1448 + 1;
  }

  gather::Captured traffic() const {
    gather::Captured result = {};
    result.burst_gap_ns = 500'000;
    result.addresses = {{}};
    for (std::uint32_t i = 1; i <= 4; ++i) {
      result.addresses.push_back(packet::v4_address(0x0a000000 + i));
    }
    for (const auto& [pair, flow] : flows_) {
      flow::Flow& added = result.flows.emplace_back(flow);
      added.key = {static_cast<std::uint32_t>(pair.first + 1),
                   static_cast<std::uint32_t>(pair.second + 1), 40'000, 40'500, 6};
      added.first_ns = flow.bursts.front().start_ns;
      added.last_ns = flow.bursts.back().end_ns;
      result.totals.last_ns = std::max(result.totals.last_ns, added.last_ns);
    }
    return result;
  }

 private:
  std::map<std::pair<int, int>, flow::Flow> flows_;
};

void expect_no_training(const gather::Captured& traffic, const std::string& why) {
  const Analysis found = analyse(traffic);
  EXPECT_TRUE(found.iterations.steps.empty());
  EXPECT_TRUE(found.collectives.empty());
  EXPECT_FALSE(found.model_bytes);
  EXPECT_THAT(found.findings[0].text,
              AllOf(HasSubstr("no training found: traffic repeats every 500 ms between 10.0.0.1"),
                    HasSubstr(why), Not(HasSubstr("gradient"))));
}

TEST(FindJob, TakesPollingForNoTraining) {
  Transfers polls;
  for (int step = 0; step < 20; ++step) {
    for (int host = 1; host < 4; ++host) {
      polls.add(0, host, 500 * step, 3'000);
      polls.add(host, 0, 500 * step + 1, 200'000);
    }
  }
  expect_no_training(polls.traffic(), "does not give as much as it takes");
}

TEST(FindJob, TakesWhatSomeOnlyGiveForNoTraining) {
  Transfers logs;
  for (int step = 0; step < 20; ++step) {
    logs.add(0, 2, 500 * step, 300'000);
    logs.add(1, 2, 500 * step + 1, 300'000);
    logs.add(2, 3, 500 * step + 5, 600'000);
    logs.add(0, 3, 500 * step + 5, 60'000);
  }
  expect_no_training(logs.traffic(), "hardly send or hardly receive");
}

// The same bytes from each to the next, as in a ring, but one after the other: the second has
// received everything before the third has begun. (Twelve turns are too few to be three times the
// six rounds of a ring.)
TEST(FindJob, TakesTurnsForNoTraining) {
  Transfers turns;
  for (int step = 0; step < 12; ++step) {
    for (int host = 0; host < 4; ++host) {
      turns.add(host, (host + 1) % 4, 500 * step + 40 * host, 300'000);
    }
  }
  expect_no_training(turns.traffic(), "done before others have begun");
}

// Everybody sends everybody something, all at once: that could be an all-reduce nobody knows.
TEST(FindJob, ReportsStepsOfAStrategyNobodyKnowsAsAGuess) {
  Transfers exchange;
  for (int step = 0; step < 20; ++step) {
    for (int from = 0; from < 4; ++from) {
      for (int to = 0; to < 4; ++to) {
        const auto part = static_cast<std::uint64_t>((7 * from + 3 * to) % 5);
        if (from != to) exchange.add(from, to, 500 * step + from, 1'000'000 + 300'000 * part);
      }
    }
  }
  const Analysis found = analyse(exchange.traffic());
  EXPECT_EQ(found.iterations.steps.size(), 20);
  EXPECT_TRUE(found.collectives.empty());
  for (const Finding& finding : found.findings) {
    EXPECT_THAT(finding.text, Not(HasSubstr("gradient")));
  }
}

// 128 kB every 5 ms between two hosts whose lanes are unequal in halving and doubling: what most
// lanes send does not tell them apart.
TEST(FindJob, LooksPastTrafficThatNeverPauses) {
  const rhythm::PlayedJob job{.strategy = "halving_doubling", .placement = {0, 1, 2, 3}};
  gather::Captured traffic = rhythm::play(job);
  flow::Flow steady = {};
  steady.key = {1, 3, 5'201, 5'201, 6};
  for (std::int64_t at = 200; at < 1'200; at += 5) {
    steady.bursts.push_back({.start_ns = at * 1'000'000,
                             .end_ns = at * 1'000'000 + 100'000,
                             .bytes = 131'072,
                             .packets = 90});
    steady.payload_bytes += 131'072;
  }
  traffic.flows.push_back(steady);
  const Analysis found = analyse(traffic);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "halving_doubling");
  EXPECT_EQ(found.iterations.steps.size(), 15);
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
  EXPECT_EQ(found.classes.back(), FlowClass::Control);
}

// Pairs of six hosts meet by chance; some of them meet three times at even distances.
TEST(FindJob, TakesAFewMeetingsOfSomeHostsForChance) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const rhythm::PlayedJob job{.strategy = "pair_averaging",
                                .placement = {0, 1, 2, 3, 4, 5},
                                .steps = 30,
                                .jitter = 0.2,
                                .seed = seed};
    const Analysis found = analyse(rhythm::play(job));
    ASSERT_FALSE(found.collectives.empty()) << seed;
    EXPECT_EQ(found.collectives[0].strategy, "pair_averaging") << seed;
  }
}

// Three leaves send 4 MB at 5 Gbit/s, which takes 6.4 ms; then the root sends it to one after the
// other, 19.2 ms. The first to be served begins the next step 12.8 ms before the last: 38.4 ms in
// all, and 50 ms less 12.8 ms without a byte.
TEST(FindJob, MeasuresTheExchangeFromTheFirstByteToTheLastOfAnyHost) {
  const rhythm::PlayedJob job{.strategy = "star", .placement = {0, 1, 2, 3}, .jitter = 0};
  const Analysis found = analyse(rhythm::play(job));
  EXPECT_NEAR(found.iterations.exchange_s, 0.0384, 0.001);
  EXPECT_NEAR(found.iterations.compute_gap_s, 0.0372, 0.001);
}

}  // namespace
}  // namespace tw::diagnose
