// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/trouble.h"

#include "trainwire/rhythm/test_jobs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tw::diagnose {
namespace {

// 50 kB take a link of 40 Mbit/s 10 ms. Who forwards them sends each message at once and then waits
// 10 ms for the next: as much in the same time, but not evenly.
TEST(Trouble, IsTheSlowLinkOfARingAndNotWhoForwardsItsSmallMessages) {
  for (const double compute_s : {0.05, 0.1, 0.2}) {
    const rhythm::PlayedJob job{.strategy = "ring",
                                .placement = rhythm::shuffled_hosts(9, 3),
                                .payload = 9 * 50'000,
                                .compute_s = compute_s,
                                .rate_bps = 400e6,
                                .slow_host = 2,
                                .slow_bps = 40e6};
    const Analysis found = analyse(rhythm::play(job));
    ASSERT_TRUE(found.bottleneck) << compute_s;
    EXPECT_EQ(found.bottleneck->from, rhythm::host_name(2));
    EXPECT_NEAR(found.bottleneck->rate_bps, 40e6 * 1514 / 1448, 2e6);
    EXPECT_FALSE(found.straggler) << compute_s;
  }
}

// All receive from the slow sender, and so each of them slowly.
TEST(Trouble, IsTheSlowSenderOfACliqueAndNotWhoReceivesFromIt) {
  for (const int slow : {0, 2, 3}) {
    const rhythm::PlayedJob job{.strategy = "clique",
                                .placement = {0, 1, 2, 3},
                                .payload = 1'000'000,
                                .compute_s = 0.1,
                                .rate_bps = 400e6,
                                .slow_host = slow,
                                .slow_bps = 50e6};
    const Analysis found = analyse(rhythm::play(job));
    ASSERT_TRUE(found.bottleneck) << slow;
    EXPECT_EQ(found.bottleneck->from, rhythm::host_name(slow));
    EXPECT_FALSE(found.straggler);
  }
}

// 6 MB take 10 ms at 5 Gbit/s and 48 ms at 1: of a step of a second nobody misses the rest.
TEST(Trouble, IsNoLinkThatCostsHardlyAnyOfTheStep) {
  rhythm::PlayedJob job{.strategy = "ring",
                        .placement = {0, 1, 2, 3},
                        .payload = 4'000'000,
                        .compute_s = 1,
                        .jitter = 0.01,
                        .slow_host = 1,
                        .slow_bps = 1e9};
  EXPECT_FALSE(analyse(rhythm::play(job)).bottleneck);
  job.compute_s = 0.1;
  EXPECT_TRUE(analyse(rhythm::play(job)).bottleneck);
}

// A busy machine hands packets over late and then fast: 4 MB of 16 ms at 2 Gbit/s in 4 ms, or in 8.
// What one host never does faster than at 4 Gbit/s it does half of the time: no link is that slow.
TEST(Trouble, IsNoHostThatIsLessHasty) {
  const rhythm::PlayedJob job{.strategy = "ring",
                              .placement = {0, 1, 2},
                              .payload = 20'000'000,
                              .compute_s = 0.02,
                              .rate_bps = 2e9,
                              .haste = {4, 2, 4}};
  EXPECT_FALSE(analyse(rhythm::play(job)).bottleneck);
}

TEST(Trouble, IsTheSlowSenderOfHalvingDoublingAndNoStraggler) {
  for (const int hosts : {4, 5, 6}) {
    const rhythm::PlayedJob job{.strategy = "halving_doubling",
                                .placement = rhythm::shuffled_hosts(hosts, 2),
                                .payload = 3'000'000,
                                .compute_s = 0.15,
                                .rate_bps = 500e6,
                                .slow_host = 1,
                                .slow_bps = 100e6};
    const Analysis found = analyse(rhythm::play(job));
    ASSERT_TRUE(found.bottleneck) << hosts;
    EXPECT_EQ(found.bottleneck->from, rhythm::host_name(1));
    EXPECT_FALSE(found.straggler) << hosts;
  }
}

// The others send, wait 120 ms for the late one, and send again: their two pauses are alike.
TEST(Trouble, IsTheStragglerOfAClique) {
  const rhythm::PlayedJob job{.strategy = "clique",
                              .placement = {0, 1, 2, 3, 4},
                              .payload = 400'000,
                              .compute_s = 0.12,
                              .rate_bps = 400e6,
                              .straggler = 3,
                              .delay_s = 0.12};
  const Analysis found = analyse(rhythm::play(job));
  ASSERT_TRUE(found.straggler);
  EXPECT_EQ(found.straggler->host, rhythm::host_name(3));
}

}  // namespace
}  // namespace tw::diagnose
