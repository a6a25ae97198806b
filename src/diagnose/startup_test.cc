// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/analysis.h"
#include "trainwire/rhythm/test_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::diagnose {
namespace {

/// The model goes from host 2 to host 0, and from there to host 1, before the first step.
gather::Captured with_broadcast() {
  gather::Captured traffic = rhythm::play({.strategy = "ring", .placement = {0, 1, 2}});
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::int64_t start_ms) {
    flow::Flow flow;
    flow.key = {from, to, 50'000, 50'001, 6};
    flow.bursts.push_back({.start_ns = start_ms * 1'000'000,
                           .end_ns = (start_ms + 5) * 1'000'000,
                           .bytes = 4'000'500,
                           .packets = 2800});
    flow.payload_bytes = 4'000'500;
    traffic.flows.push_back(flow);
  };
  add(3, 1, 50);
  add(1, 2, 60);
  return traffic;
}

TEST(FindBroadcast, FindsWhoHadTheModelFirst) {
  const Analysis found = analyse(with_broadcast());
  ASSERT_EQ(found.collectives.size(), 2);
  EXPECT_EQ(found.collectives[1].operation, "broadcast");
  EXPECT_EQ(found.collectives[1].count, 1u);  // sent once, however many steps follow
  EXPECT_EQ(found.collectives[1].order.front(), "10.0.0.3");
  EXPECT_EQ(found.collectives[1].bytes_per_iteration, 4'000'500u);
}

TEST(FindBroadcast, FindsNoneWhereEverybodyBeginsWithAStep) {
  EXPECT_EQ(analyse(rhythm::play({.strategy = "ring", .placement = {0, 1, 2}})).collectives.size(),
            1);
}

}  // namespace
}  // namespace tw::diagnose
