// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/same_senders.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace tw::flow {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// What connections of `senders` ranks send in `steps` steps of 100 ms: each rank begins within 2 ms of the others, and its
/// connections one after the other, 200 us apart and within 20 us or `apart_us`. Inside a step there is a pause of 3 ms.
std::vector<std::vector<Burst>> lanes_of(int senders, int connections, int steps,
                                         std::int64_t apart_us = 20) {
  std::mt19937 random(7);
  const auto within = [&](std::int64_t most_us) {
    return 1000 * static_cast<std::int64_t>(random() % static_cast<unsigned>(most_us));
  };
  std::vector<std::vector<Burst>> lanes(static_cast<std::size_t>(senders * connections));
  for (int step = 0; step < steps; ++step) {
    for (int sender = 0; sender < senders; ++sender) {
      const std::int64_t begin = 100'000'000LL * step + within(2000);
      for (int each = 0; each < connections; ++each) {
        const std::int64_t start = begin + 200'000 * each + within(apart_us);
        auto& lane = lanes[static_cast<std::size_t>(each * senders + sender)];
        lane.push_back(
            {.start_ns = start, .end_ns = start + 20'000'000, .bytes = 1000, .packets = 1});
        lane.push_back({.start_ns = start + 23'000'000,
                        .end_ns = start + 30'000'000,
                        .bytes = 1000,
                        .packets = 1});
      }
    }
  }
  return lanes;
}

std::vector<std::vector<std::size_t>> found(const std::vector<std::vector<Burst>>& lanes,
                                            std::vector<int> leads_to = {}) {
  std::vector<const std::vector<Burst>*> each;
  for (const auto& lane : lanes) each.push_back(&lane);
  for (std::size_t i = leads_to.size(); i < lanes.size(); ++i)
    leads_to.push_back(static_cast<int>(i));
  return same_senders(each, leads_to);
}

TEST(SameSenders, ConnectionsOfOneSenderBeginTogether) {
  for (const int connections : {2, 4}) {
    const auto groups = found(lanes_of(4, connections, 12));
    ASSERT_THAT(groups, SizeIs(4)) << connections;
    for (const auto& group : groups) {
      ASSERT_THAT(group, SizeIs(connections));
      for (const std::size_t lane : group) EXPECT_EQ(lane % 4, group.front() % 4);
    }
  }
}

// As two ranks of FSDP begin.
TEST(SameSenders, MayBeginLessTogetherWhereThereAreManySteps) {
  EXPECT_THAT(found(lanes_of(2, 2, 30, 500)), SizeIs(2));
  EXPECT_THAT(found(lanes_of(2, 2, 8, 500)), IsEmpty());
  EXPECT_THAT(found(lanes_of(2, 2, 30, 1500)), IsEmpty());
}

TEST(SameSenders, SendersWithOneConnectionStayApart) {
  EXPECT_THAT(found(lanes_of(4, 1, 12)), IsEmpty());
  EXPECT_THAT(found(lanes_of(8, 1, 30)), IsEmpty());
}

// Eight sockets of four ranks, two to each port: one channel of two sockets.
TEST(SameSenders, SocketsThatLeadToOnePortAreOfOneSender) {
  const auto groups = found(lanes_of(4, 2, 12), {0, 1, 2, 3, 0, 1, 2, 3});
  ASSERT_THAT(groups, SizeIs(4));
  for (const auto& group : groups) EXPECT_THAT(group, SizeIs(2));
}

TEST(SameSenders, FewStepsShowNothing) {
  EXPECT_THAT(found(lanes_of(4, 2, 2)), IsEmpty());
  EXPECT_THAT(found({}), IsEmpty());
  EXPECT_THAT(found(std::vector<std::vector<Burst>>(8)), IsEmpty());
}

}  // namespace
}  // namespace tw::flow
