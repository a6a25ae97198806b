// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/judged.h"

#include <gmock/gmock.h>

namespace tw::attach {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Sums one_way(double busy_s, double peer_limited_s, std::uint64_t again) {
  return {.seconds = 10,
          .ways = {{{"10.0.0.1", "10.0.0.2"},
                    {.connections = 1,
                     .sent_bytes = 1'000'000,
                     .sent_segments = 1000,
                     .sent_again = again,
                     .round_trip_s = 0.002,
                     .least_round_trip_s = 0.001,
                     .busy_s = busy_s,
                     .peer_limited_s = peer_limited_s}}}};
}

Sums one_port(const Device& device) { return {.seconds = 10, .devices = {{"mlx5_0/1", device}}}; }

TEST(Judged, SharesOfTimeDecide) {
  EXPECT_EQ(judged(one_way(1, 0, 0)).cause, "compute");
  const record::Verdict late = judged(one_way(9, 8, 0));
  EXPECT_EQ(late.cause, "late_rank");
  EXPECT_EQ(late.where, "10.0.0.2");
  EXPECT_EQ(judged(one_way(9, 0, 50)).cause, "loss");
  const record::Verdict network = judged(one_way(8, 0, 0));
  EXPECT_EQ(network.cause, "bandwidth");
  EXPECT_EQ(network.where, "10.0.0.1 to 10.0.0.2");
  // 8 Mbit in 8 s.
  EXPECT_THAT(network.text, HasSubstr("80 % of the time, at 1 Mbit/s"));
  EXPECT_EQ(judged({.seconds = 1}).cause, "unknown");
}

TEST(Judged, WhereRdmaMovesTheBytesItsPortDecides) {
  const Device quiet{.counts = {.sent = 1'000'000'000}, .rate_bps = 4e11, .active_s = 2};
  EXPECT_EQ(judged(one_port(quiet)).cause, "compute");
  const Device full{
      .counts = {.sent = 1'000'000'000}, .rate_bps = 4e11, .active_s = 9, .full_s = 8};
  EXPECT_EQ(judged(one_port(full)).cause, "bandwidth");
  const Device slow{
      .counts = {.sent = 1'000'000'000}, .rate_bps = 4e11, .active_s = 9, .full_s = 1};
  EXPECT_EQ(judged(one_port(slow)).cause, "unknown");
  Sums lossy = one_port(full);
  lossy.rdma = {{"mlx5_0/1 port_xmit_packets", 1'000'000}, {"mlx5_0/1 out_of_sequence", 500}};
  EXPECT_EQ(judged(lossy).cause, "loss");
  EXPECT_THAT(findings_of(lossy), SizeIs(1));
}

TEST(Judged, PacketsGoBeforeSocketsWhereTheyNameACause) {
  const record::Verdict slow{.cause = "slow_link", .where = "a to b", .text = "Slow."};
  EXPECT_THAT(of_both(slow, judged(one_way(8, 0, 0)), 0.9).text,
              HasSubstr("TCP agrees: The network"));
  EXPECT_EQ(of_both(slow, judged(one_way(1, 0, 0)), 0.9).text, "Slow.");
  EXPECT_EQ(of_both({.cause = "unknown"}, judged(one_way(9, 8, 0)), 0.9).cause, "late_rank");
  // Ranks of a ring have their turns: each connection rests while the exchange goes on.
  EXPECT_EQ(
      of_both({.cause = "unknown", .text = "Bytes move."}, judged(one_way(1, 0, 0)), 0.7).text,
      "Bytes move.");
  EXPECT_EQ(of_both({.cause = "unknown"}, judged(one_way(1, 0, 0)), 0.05).cause, "compute");
}

TEST(Judged, APeerThatDoesNotReadIsNoLoss) {
  const record::Verdict late = judged(one_way(9, 8, 20));
  EXPECT_EQ(of_both({.cause = "loss", .text = "Sent again."}, late, 0.9).cause, "late_rank");
  EXPECT_EQ(of_both({.cause = "bandwidth", .text = "Long."}, late, 0.9).cause, "late_rank");
  EXPECT_EQ(of_both({.cause = "compute", .text = "Rests."}, late, 0.9).cause, "late_rank");
  EXPECT_EQ(of_both({.cause = "slow_link", .text = "Slow."}, late, 0.9).cause, "slow_link");
  // Busy for less than half of the time, it does not decide alone.
  EXPECT_EQ(of_both({.cause = "loss", .text = "Again."}, judged(one_way(4, 3, 20)), 0.9).cause,
            "loss");
}

TEST(Judged, AMomentTellsNothing) {
  Sums moment = one_way(8, 0, 0);
  moment.seconds = 0.09;
  EXPECT_EQ(judged(moment).cause, "unknown");
  EXPECT_THAT(judged(moment).text, HasSubstr("watched for 90 ms only"));
}

// Rounds of a ring rest for half of the time; that the network has no part in it does not follow.
TEST(Judged, AWayThatIsBusyNowAndThenMayDecide) {
  const record::Verdict found = judged(one_way(4, 0, 0));
  EXPECT_EQ(found.cause, "bandwidth");
  EXPECT_LT(found.confidence, 0.6);
  EXPECT_THAT(found.text, HasSubstr("For 60 % of the time the rank computes or waits"));
  EXPECT_EQ(judged(one_way(1, 0, 0)).cause, "compute");
}

TEST(Judged, ProcessesThatMayNotBeLookedIntoAreTold) {
  Sums sums{.seconds = 9, .closed = 4};
  EXPECT_THAT(judged(sums).text, HasSubstr("4 of the job's processes may not be looked into"));
  EXPECT_THAT(findings_of(sums), SizeIs(1));
}

TEST(Judged, WhatIsSentAgainIsAFinding) {
  const auto found = findings_of(one_way(8, 0, 5));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].text, "5 of 1000 segments to 10.0.0.2 were sent again");
  EXPECT_TRUE(findings_of(one_way(8, 0, 0)).empty());
}

}  // namespace
}  // namespace tw::attach
