// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/packets.h"

#include <gmock/gmock.h>

namespace tw::account {
namespace {

using testing::HasSubstr;

/// Steps of 100 ms, 40 of them quiet.
record::Run captured() {
  record::Run run;
  run.capture.emplace();
  run.iterations.emplace();
  run.iterations->confidence = 0.9;
  run.iterations->median_s = 0.1;
  run.iterations->compute_gap_s = 0.04;
  run.iterations->exchange_s = 0.06;
  return run;
}

double sum_of(const record::Accounting& accounting) {
  double sum = 0;
  for (const record::AccountPart& part : accounting.parts) sum += part.seconds;
  return sum;
}

TEST(Packets, ShowWhoIsLate) {
  record::Run run = captured();
  run.straggler = record::Straggler{.host = "10.0.0.2", .delay_s = 0.05, .confidence = 1};
  add_of_packets(run);
  EXPECT_EQ(run.verdict->cause, "late_rank");
  EXPECT_EQ(run.verdict->where, "10.0.0.2");
  EXPECT_THAT(run.verdict->text, HasSubstr("Not the network: 10.0.0.2 begins 50 ms later"));
  EXPECT_DOUBLE_EQ(run.verdict->confidence, 0.9);
  EXPECT_DOUBLE_EQ(record::part_s(*run.accounting, "late_rank"), 0.05);
  EXPECT_NEAR(sum_of(*run.accounting), 0.1, 1e-12);
}

TEST(Packets, ShowASlowLink) {
  record::Run run = captured();
  run.bottleneck = record::Bottleneck{.from = "a", .to = "b", .rate_bps = 2e7, .confidence = 0.8};
  add_of_packets(run);
  EXPECT_EQ(run.verdict->cause, "slow_link");
  EXPECT_EQ(run.verdict->where, "a to b");
  EXPECT_THAT(run.verdict->text, HasSubstr("60 of 100 ms a step"));
  EXPECT_THAT(run.verdict->text, HasSubstr("20 Mbit/s"));
}

TEST(Packets, AloneDoNotSayWhatLimitsEqualLinks) {
  record::Run run = captured();
  add_of_packets(run);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text, HasSubstr("the links' rates are missing"));
  EXPECT_THAT(run.verdict->text, HasSubstr("does not show from these packets"));
  EXPECT_EQ(run.accounting->not_visible.size(), 2U);
  run.collectives.emplace_back();
  add_of_packets(run);
  EXPECT_THAT(run.verdict->text, HasSubstr("over links that are all alike"));
}

TEST(Packets, SayItWhereRatesAreKnown) {
  record::Run run = captured();
  run.network.links = {{.name = "host1",
                        .direction = "to_host",
                        .requested = {.rate_bps = 1e9},
                        .counted = record::CountedLink{.share = 0.5}}};
  add_of_packets(run);
  EXPECT_EQ(run.verdict->cause, "bandwidth");
  EXPECT_EQ(run.verdict->where, "host1 to_host");
}

TEST(Packets, SayItWhereTheExchangeFillsLinksOfKnownRate) {
  record::Run run = captured();
  run.network.links = {{.name = "host1",
                        .direction = "to_host",
                        .requested = {.rate_bps = 1e9},
                        .counted = record::CountedLink{.share = 0.1}}};
  run.collectives = {{.busbw_bps = 0.8e9}};
  add_of_packets(run);
  EXPECT_EQ(run.verdict->cause, "bandwidth");
  EXPECT_THAT(run.verdict->text,
              HasSubstr("60 of 100 ms a step: links of 1 Gbit/s are used to 80 %"));
  run.collectives = {{.busbw_bps = 0.3e9}};
  add_of_packets(run);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text,
              HasSubstr(". Links of 1 Gbit/s are used to 30 % meanwhile: delay"));
}

TEST(Packets, AreQuietWhereItIsComputing) {
  record::Run run = captured();
  run.iterations->compute_gap_s = 0.09;
  add_of_packets(run);
  EXPECT_EQ(run.verdict->cause, "compute");
}

TEST(Packets, WithoutStepsHaveNoVerdict) {
  record::Run run;
  add_of_packets(run);
  EXPECT_FALSE(run.verdict);
  run.capture.emplace();
  add_of_packets(run);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text, HasSubstr("no training steps"));
}

}  // namespace
}  // namespace tw::account
