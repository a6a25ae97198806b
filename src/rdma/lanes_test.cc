// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rdma/lanes.h"

#include <gtest/gtest.h>

#include <string>

namespace tw::rdma {
namespace {

std::string all_of(Lanes<char>& lanes) {
  std::string order;
  while (const auto next = lanes.take()) order += *next;
  return order;
}

TEST(Lanes, ShareByBytesAndUrgentGoesFirst) {
  Lanes<char> lanes;
  for (int i = 0; i < 4; ++i) lanes.push('s', Lane::Shared, 100);
  for (int i = 0; i < 2; ++i) lanes.push('L', Lane::Lossless, 200);
  lanes.push('!', Lane::Urgent, 10);
  EXPECT_EQ(lanes.bytes(), 810);
  EXPECT_EQ(all_of(lanes), "!sLssLs");
  EXPECT_EQ(lanes.bytes(), 0);
}

TEST(Lanes, ThePausedOneWaits) {
  Lanes<char> lanes;
  lanes.pause(true);
  lanes.push('L', Lane::Lossless, 1);
  lanes.push('!', Lane::Urgent, 1);
  lanes.push('s', Lane::Shared, 1);
  EXPECT_EQ(all_of(lanes), "!s");
  lanes.pause(false);
  EXPECT_EQ(all_of(lanes), "L");
}

// What was sent while a lane was empty is not made up for.
TEST(Lanes, AnIdleOneSavesNothing) {
  Lanes<char> lanes;
  for (int i = 0; i < 100; ++i) lanes.push('s', Lane::Shared, 100);
  for (int i = 0; i < 50; ++i) lanes.take();
  for (int i = 0; i < 3; ++i) lanes.push('L', Lane::Lossless, 100);
  EXPECT_EQ(all_of(lanes).substr(0, 6), "sLsLsL");
}

TEST(Lanes, TheHighestPriorityGoesFirstAndAlone) {
  Lanes<char> lanes;
  for (int i = 0; i < 2; ++i) lanes.push('0', Lane::Shared, 100);
  for (int i = 0; i < 2; ++i) lanes.push('5', Lane::Shared, 100, 5);
  lanes.push('L', Lane::Lossless, 300, 5);
  lanes.push('!', Lane::Urgent, 10);
  EXPECT_EQ(lanes.bytes_from(1), 500);
  EXPECT_EQ(lanes.bytes(Lane::Shared), 200);
  EXPECT_EQ(lanes.bytes(Lane::Shared, 7), 0);
  EXPECT_EQ(all_of(lanes), "5L5!00");
}

}  // namespace
}  // namespace tw::rdma
