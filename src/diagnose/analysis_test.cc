// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/analysis.h"

#include "trainwire/diagnose/test_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tw::diagnose {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

/// The ring as hosts in rank order, beginning at the lowest address, as analyse() gives it.
std::vector<std::string> ring_order(const std::vector<int>& placement) {
  std::vector<int> order = placement;
  std::rotate(order.begin(), std::min_element(order.begin(), order.end()), order.end());
  std::vector<std::string> names;
  for (const int host : order) names.push_back(rhythm::host_name(host));
  return names;
}

TEST(Analyse, FindsTheRingItsOrderItsStepsAndItsBytes) {
  for (const int hosts : {3, 4, 5, 6, 8}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const rhythm::PlayedJob job{
          .strategy = "ring", .placement = rhythm::shuffled_hosts(hosts, seed), .seed = seed};
      const Analysis found = analyse(rhythm::play(job));
      SCOPED_TRACE(std::to_string(hosts) + " hosts, seed " + std::to_string(seed));
      ASSERT_FALSE(found.collectives.empty());
      EXPECT_EQ(found.collectives[0].strategy, "ring");
      EXPECT_EQ(found.collectives[0].order, ring_order(job.placement));
      EXPECT_EQ(found.iterations.steps.size(), 15);
      EXPECT_NEAR(model_error(found, job), 0, 0.01);
      EXPECT_FALSE(found.bottleneck);
      EXPECT_FALSE(found.straggler);
    }
  }
}

// A pause of a second after every epoch, checkpoint or validation.
TEST(Analyse, FindsTheStepsBetweenLongPauses) {
  for (const std::string strategy : {"ring", "star", "clique", "halving_doubling", "double_tree"}) {
    for (const int every : {5, 6, 8, 12}) {
      SCOPED_TRACE(strategy + ", pause after every " + std::to_string(every));
      const rhythm::PlayedJob job{.strategy = strategy,
                                  .placement = rhythm::shuffled_hosts(5, 2),
                                  .steps = 4 * every,
                                  .rest_every = every};
      const Analysis found = analyse(rhythm::play(job));
      EXPECT_EQ(found.iterations.steps.size(), static_cast<std::size_t>(job.steps));
      EXPECT_NEAR(model_error(found, job), 0, 0.01);
      EXPECT_LT(found.iterations.confidence, 0.95);
      EXPECT_TRUE(found.iterations.other);
    }
  }
}

// Waiting for a host that is late by twice the others' computing is longer than what they compute,
// and behind a slow link hosts begin while others still receive: neither hides that all compute
// between steps.
TEST(Analyse, FindsTheStepsBetweenEpochsBesideAStragglerOrASlowLink) {
  for (const bool is_late : {true, false}) {
    SCOPED_TRACE(is_late ? "straggler" : "slow link");
    rhythm::PlayedJob job{.strategy = "ring",
                          .placement = rhythm::shuffled_hosts(4, 3),
                          .steps = 32,
                          .rest_every = 8};
    (is_late ? job.straggler : job.slow_host) = 2;
    job.slow_bps = 1e9;
    const Analysis found = analyse(rhythm::play(job));
    EXPECT_EQ(found.iterations.steps.size(), 32u);
    EXPECT_NEAR(model_error(found, job), 0, 0.01);
    EXPECT_EQ(found.straggler.has_value(), is_late);
    EXPECT_EQ(found.bottleneck.has_value(), !is_late);
  }
}

// The pauses between rounds, of 20 ms and of what a host is late, repeat with two or three steps as
// well as with one; but after each step everybody is silent for longer than that.
TEST(Analyse, DoesNotJoinTheStepsOfARingWithLatency) {
  for (const double jitter : {0.0, 0.05}) {
    for (const int hosts : {3, 4, 6}) {
      SCOPED_TRACE(std::to_string(hosts) + " hosts, jitter " + std::to_string(jitter));
      const rhythm::PlayedJob job{.strategy = "ring",
                                  .placement = rhythm::shuffled_hosts(hosts, 7),
                                  .payload = 2'000'000,
                                  .steps = 20,
                                  .compute_s = 0.1,
                                  .jitter = jitter,
                                  .rate_bps = 2e9,
                                  .latency_s = 0.02,
                                  .straggler = 2,
                                  .delay_s = 0.05};
      const Analysis found = analyse(rhythm::play(job));
      EXPECT_EQ(found.iterations.steps.size(), 20);
      EXPECT_NEAR(model_error(found, job), 0, 0.01);
    }
  }
}

// What each strategy may be called when another has the same host pairs: a tree with one rank on
// each host is a star, and a single server sends what a star's root sends.
struct Expected {
  std::string strategy;
  int ranks;
  int servers;
  std::vector<std::string> names;
};

TEST(Analyse, NamesEveryStrategyByItsHostPairs) {
  const std::vector<Expected> all{
      {"star", 4, 1, {"star"}},
      {"tree", 5, 1, {"star"}},
      {"binary_tree_star", 4, 1, {"tree"}},
      {"binary_tree_star", 6, 1, {"binary_tree_star"}},
      {"binary_tree_star", 8, 1, {"binary_tree_star"}},
      {"clique", 4, 1, {"clique"}},
      {"clique", 6, 1, {"clique"}},
      {"halving_doubling", 4, 1, {"halving_doubling"}},
      {"halving_doubling", 6, 1, {"halving_doubling"}},
      {"halving_doubling", 8, 1, {"halving_doubling"}},
      {"double_tree", 5, 1, {"double_tree"}},
      {"double_tree", 8, 1, {"double_tree"}},
      {"hierarchical", 6, 1, {"ring"}},
      {"ps", 4, 1, {"star", "ps"}},
      {"ps", 6, 2, {"ps"}},
      {"ps", 8, 3, {"ps"}},
  };
  for (const Expected& expected : all) {
    SCOPED_TRACE(expected.strategy + " of " + std::to_string(expected.ranks));
    const rhythm::PlayedJob job{.strategy = expected.strategy,
                                .placement = rhythm::shuffled_hosts(expected.ranks, 5),
                                .servers = expected.servers};
    const Analysis found = analyse(rhythm::play(job));
    EXPECT_EQ(found.iterations.steps.size(), 15);
    ASSERT_FALSE(found.collectives.empty());
    EXPECT_THAT(expected.names, ::testing::Contains(found.collectives[0].strategy));
    EXPECT_NEAR(model_error(found, job), 0, 0.01);
    EXPECT_FALSE(found.straggler);
  }
}

TEST(Analyse, PutsTheRootFirst) {
  for (const std::string strategy : {"star", "binary_tree_star"}) {
    const rhythm::PlayedJob job{.strategy = strategy, .placement = rhythm::shuffled_hosts(6, 3)};
    const Analysis found = analyse(rhythm::play(job));
    ASSERT_FALSE(found.collectives.empty());
    EXPECT_EQ(found.collectives[0].order.front(), rhythm::host_name(job.placement[0])) << strategy;
  }
}

TEST(Analyse, TellsServersFromWorkers) {
  const rhythm::PlayedJob job{.strategy = "ps", .placement = {4, 0, 5, 2, 1, 3}, .servers = 2};
  const Analysis found = analyse(rhythm::play(job));
  for (int host = 0; host < 6; ++host) {
    // The last two ranks serve: hosts 1 and 3.
    const gather::Role expected =
        host == 1 || host == 3 ? gather::Role::Server : gather::Role::Worker;
    EXPECT_EQ(found.hosts[static_cast<std::size_t>(host)].role, expected) << host;
  }
}

// Eight ranks, two on each host: an edge carries 2 * 7/8 M, in 14 rounds and not in 6.
TEST(Analyse, CountsTheRanksOnEachHostOfARing) {
  const rhythm::PlayedJob job{.strategy = "ring",
                              .placement = {2, 2, 0, 0, 3, 3, 1, 1},
                              .payload = 16'000'000,
                              .compute_s = 0.5,
                              .rate_bps = 1e9,
                              .latency_s = 0.05};
  const Analysis found = analyse(rhythm::play(job));
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].order, ring_order({2, 0, 3, 1}));
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
}

// A ring of 4k ranks on four hosts: an edge carries 2 (4k-1)/4k M. A link that is slower than its
// hosts hides the pauses between most rounds, not those after which a late rank was waited for.
TEST(Analyse, CountsTheRanksOnEachHostByThePausesThatAreLeft) {
  for (const int ranks : {1, 2, 3, 4}) {
    for (const double latency_s : {50e-6, 2e-3}) {
      rhythm::PlayedJob job{.strategy = "ring",
                            .placement = {},
                            .payload = 16'000'000,
                            .compute_s = 0.2,
                            .rate_bps = 1e9,
                            .latency_s = latency_s};
      for (int i = 0; i < 4 * ranks; ++i) job.placement.push_back(i / ranks);
      const Analysis found = analyse(rhythm::play(job));
      EXPECT_NEAR(model_error(found, job), 0, 0.01) << ranks << " ranks, " << latency_s << " s";
    }
  }
}

// Each pair deals its bytes over three connections, a half, three tenths and a fifth in turn: what
// one of them carries repeats only after three steps, what all carry after each of the fifteen.
TEST(Analyse, JoinsConnectionsThatTakeTurns) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {2, 0, 3, 1}};
  gather::Captured traffic = rhythm::play(job);
  std::vector<flow::Flow> dealt;
  for (const flow::Flow& whole : traffic.flows) {
    for (std::size_t connection = 0; connection < 3; ++connection) {
      flow::Flow& flow = dealt.emplace_back(whole);
      flow.key.source_port = static_cast<std::uint16_t>(50'000 + connection);
      flow.payload_bytes = 0;
      for (std::size_t i = 0; i < flow.bursts.size(); ++i) {
        const std::uint64_t tenths[] = {5, 3, 2};
        flow.bursts[i].bytes = whole.bursts[i].bytes * tenths[(i + connection) % 3] / 10;
        flow.payload_bytes += flow.bursts[i].bytes;
      }
    }
  }
  traffic.flows = std::move(dealt);
  const Analysis found = analyse(traffic);
  EXPECT_EQ(found.iterations.steps.size(), 15);
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
}

TEST(Analyse, FollowsParallelConnections) {
  const rhythm::PlayedJob job{
      .strategy = "ring", .placement = {2, 0, 3, 1}, .payload = 8'000'000, .connections = 4};
  const Analysis found = analyse(rhythm::play(job));
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].order, ring_order(job.placement));
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
  EXPECT_EQ(std::count(found.classes.begin(), found.classes.end(), FlowClass::Gradient), 16);
}

// Blocks every 13 ms between two hosts of the ring: whatever the step takes, some number of them
// fits.
TEST(Analyse, LeavesSteadyTrafficBesideTheRingAlone) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 2, 1, 3}, .steps = 20};
  gather::Captured traffic = rhythm::play(job);
  flow::Flow other;
  other.key = {1, 3, 5000, 5001, 6};
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t start = 200'000'000 + i * 13'000'000;
    other.bursts.push_back(
        {.start_ns = start, .end_ns = start + 100'000, .bytes = 131'072, .packets = 90});
    other.payload_bytes += 131'072;
  }
  traffic.flows.push_back(other);
  const Analysis found = analyse(traffic);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].order, ring_order(job.placement));
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
  EXPECT_EQ(found.classes.back(), FlowClass::Control);
}

// One link of 100 Mbit/s in a ring of 5 Gbit/s: every host takes equally long.
TEST(Analyse, FindsTheSlowLinkInARing) {
  for (const int slow : {0, 2, 5}) {
    const rhythm::PlayedJob job{
        .strategy = "ring", .placement = rhythm::shuffled_hosts(6, 9), .slow_host = slow};
    const Analysis found = analyse(rhythm::play(job));
    ASSERT_TRUE(found.bottleneck) << slow;
    EXPECT_EQ(found.bottleneck->from, rhythm::host_name(slow));
    // Played rates are payload rates; frames add 66 bytes to 1,448.
    EXPECT_NEAR(found.bottleneck->rate_bps, 100e6 * 1514 / 1448, 5e6);
    EXPECT_FALSE(found.straggler);
    EXPECT_THAT(found.findings[0].text, HasSubstr("slow link"));
  }
}

// Four packets at a time on a link of 80 Mbit/s are 0.6 ms apart: more than the gap between bursts,
// so that the link seems to pause everywhere, and the others in each of 2(N-1) rounds.
TEST(Analyse, FindsStepsBehindALinkThatSpacesItsPackets) {
  for (const int hosts : {3, 4, 5}) {
    for (const double compute_s : {0.02, 0.1}) {
      const rhythm::PlayedJob job{.strategy = "ring",
                                  .placement = rhythm::shuffled_hosts(hosts, 4),
                                  .payload = 8'000'000,
                                  .compute_s = compute_s,
                                  .rate_bps = 400e6,
                                  .latency_s = 200e-6,
                                  .slow_host = 1,
                                  .slow_bps = 80e6,
                                  .train = 4 * 1448};
      SCOPED_TRACE(std::to_string(hosts) + " hosts, " + std::to_string(compute_s) + " s");
      const Analysis found = analyse(rhythm::play(job));
      ASSERT_FALSE(found.collectives.empty());
      EXPECT_EQ(found.collectives[0].order, ring_order(job.placement));
      EXPECT_NEAR(static_cast<double>(found.iterations.steps.size()), 15, 1);
      EXPECT_NEAR(model_error(found, job), 0, 0.01);
      ASSERT_TRUE(found.bottleneck);
      EXPECT_EQ(found.bottleneck->from, rhythm::host_name(1));
      EXPECT_NEAR(found.bottleneck->rate_bps, 80e6 * 1514 / 1448, 4e6);
    }
  }
}

// The others of a ring wait 60 ms in each of 2(N-1) rounds, and compute for a fraction of that.
TEST(Analyse, CountsStepsAndNotRoundsBehindASlowLink) {
  for (const int hosts : {4, 5, 6, 8}) {
    for (const std::uint64_t seed : {1, 2}) {
      const rhythm::PlayedJob job{.strategy = "ring",
                                  .placement = rhythm::shuffled_hosts(hosts, seed),
                                  .payload = 600'000 * hosts,
                                  .compute_s = 0.01,
                                  .jitter = 0.2,
                                  .rate_bps = 800e6,
                                  .slow_host = 2,
                                  .slow_bps = 80e6,
                                  .seed = seed};
      SCOPED_TRACE(std::to_string(hosts) + " hosts, seed " + std::to_string(seed));
      const Analysis found = analyse(rhythm::play(job));
      EXPECT_NEAR(static_cast<double>(found.iterations.steps.size()), 15, 1);
      EXPECT_NEAR(model_error(found, job), 0, 0.01);
      ASSERT_TRUE(found.bottleneck);
      EXPECT_EQ(found.bottleneck->from, rhythm::host_name(2));
      EXPECT_FALSE(found.straggler);
    }
  }
}

// 6 MB on the slow link take 0.5 s, in 6 rounds of 80 ms; the host computes 0.1 s longer.
TEST(Analyse, FindsTheStragglerBesideASlowLink) {
  const rhythm::PlayedJob job{.strategy = "ring",
                              .placement = {0, 2, 1, 3},
                              .rate_bps = 1e9,
                              .slow_host = 2,
                              .straggler = 3};
  const Analysis found = analyse(rhythm::play(job));
  ASSERT_TRUE(found.bottleneck);
  EXPECT_EQ(found.bottleneck->from, rhythm::host_name(2));
  ASSERT_TRUE(found.straggler);
  EXPECT_EQ(found.straggler->host, rhythm::host_name(3));
  EXPECT_NEAR(found.straggler->delay_s, 0.1, 0.02);
}

// Every step waits for the link and for the host: 6 MB at 100 Mbit/s take 0.5 s, the host 0.4 s
// more.
TEST(Analyse, FindsTheSlowLinkBesideAStraggler) {
  const rhythm::PlayedJob job{.strategy = "ring",
                              .placement = {0, 2, 1, 3},
                              .rate_bps = 1e9,
                              .slow_host = 1,
                              .straggler = 3,
                              .delay_s = 0.4};
  const Analysis found = analyse(rhythm::play(job));
  ASSERT_TRUE(found.bottleneck);
  EXPECT_EQ(found.bottleneck->from, rhythm::host_name(1));
  EXPECT_EQ(found.iterations.steps.size(), 15);
}

TEST(Analyse, BlamesNobodyWhenAllLinksAreSlow) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 1, 2, 3}, .rate_bps = 100e6};
  EXPECT_FALSE(analyse(rhythm::play(job)).bottleneck);
}

TEST(Analyse, FindsTheHostThatStartsLate) {
  for (const std::string strategy : {"ring", "star", "halving_doubling"}) {
    const rhythm::PlayedJob job{.strategy = strategy, .placement = {1, 0, 3, 2}, .straggler = 3};
    const Analysis found = analyse(rhythm::play(job));
    ASSERT_TRUE(found.straggler) << strategy;
    EXPECT_EQ(found.straggler->host, rhythm::host_name(3));
    EXPECT_NEAR(found.straggler->delay_s, 0.1, 0.02);
    EXPECT_FALSE(found.bottleneck) << strategy;
  }
}

// Rounds of a ring that hardly pauses look like steps; they break the law of all-reduces.
TEST(Analyse, FindsStepsThatHardlyPause) {
  const rhythm::PlayedJob job{.strategy = "ring",
                              .placement = {0, 2, 1, 3},
                              .steps = 40,
                              .compute_s = 0.001,
                              .jitter = 0.5,
                              .rate_bps = 1e9};
  const Analysis found = analyse(rhythm::play(job));
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "ring");
  EXPECT_NEAR(static_cast<double>(found.iterations.steps.size()), 40, 1);
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
}

TEST(Analyse, RecognisesPairAveragingWithoutSteps) {
  rhythm::PlayedJob job{.strategy = "pair_averaging", .placement = {0, 1, 2, 3, 4}, .steps = 40};
  job.jitter = 0.2;
  const Analysis found = analyse(rhythm::play(job));
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "pair_averaging");
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
}

TEST(Analyse, SaysWhatItLookedForInAnEmptyCapture) {
  const Analysis found = analyse(gather::Captured{});
  EXPECT_TRUE(found.iterations.steps.empty());
  EXPECT_TRUE(found.collectives.empty());
  ASSERT_EQ(found.findings.size(), 1);
  EXPECT_EQ(found.findings[0].text, "no training found: no flow carries payload between two hosts");
}

TEST(Analyse, NamesHostsAsTheHostsFileDoes) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 1, 2}};
  const Analysis found = analyse(rhythm::play(job), {.names = {{"10.0.0.1", "alpha"}}});
  EXPECT_EQ(found.hosts[0].name, "alpha");
  EXPECT_THAT(found.collectives[0].order, ::testing::ElementsAre("alpha", "10.0.0.2", "10.0.0.3"));
}

}  // namespace
}  // namespace tw::diagnose
