// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/sharded.h"

#include <gtest/gtest.h>

#include <set>

namespace tw::recognise {
namespace {

/// A ring of four that sends `sizes` in each of six steps. A pause before number i of step s is only
/// seen where (i + s) % 3 is not 0, and each step begins in three pieces of its own.
struct Ring {
  rhythm::Steps steps{.lanes = {}, .steps = {}, .tempo = {}};
  std::vector<rhythm::Channel> channels;

  explicit Ring(const std::vector<double>& sizes) {
    for (int host = 0; host < 4; ++host) add_lane(host, sizes);
  }

 private:
  void add_lane(int host, const std::vector<double>& sizes) {
    rhythm::Channel channel{
        .from = host, .to = (host + 1) % 4, .flows = {}, .bursts = {}, .bytes = 0};
    rhythm::Lane lane{
        .from = host, .to = (host + 1) % 4, .channel = channels.size(), .bytes = 0, .beats = {}};
    for (int step = 0; step < 6; ++step) {
      const std::size_t first = channel.bursts.size();
      double all = 0;
      for (const double size : sizes) all += size;
      std::set<double> ends{100'000.0 * (step + 1), 100'000.0 * (step + 1) + 70'000 * (host + 1),
                            all};
      double at = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        at += sizes[i];
        if ((i + static_cast<std::size_t>(step)) % 3 != 0) ends.insert(at);
      }
      const std::int64_t begin = 300'000'000 * step;
      double before = 0;
      for (const double end : ends) {
        const auto time = [&](double bytes) {
          return begin + static_cast<std::int64_t>(2 * bytes);
        };
        channel.bursts.push_back({.start_ns = time(before) + 1'000'000,
                                  .end_ns = time(end),
                                  .bytes = static_cast<std::uint64_t>(end - before),
                                  .packets = 1});
        before = end;
      }
      lane.bytes = static_cast<std::uint64_t>(all);
      channel.bytes += lane.bytes;
      lane.beats.push_back(rhythm::Beat{.start_ns = channel.bursts[first].start_ns,
                                        .end_ns = channel.bursts.back().end_ns,
                                        .bytes = lane.bytes,
                                        .first_burst = first,
                                        .end_burst = channel.bursts.size(),
                                        .fits = true});
    }
    channels.push_back(std::move(channel));
    steps.lanes.push_back(std::move(lane));
  }
};

TEST(FindShards, KnowsLayersOfWhichSomeFollowWithoutAPause) {
  const double layer = 9.457e6;
  const double head = 14.159e6;
  std::vector<double> sizes{head};
  sizes.insert(sizes.end(), 12, layer);
  sizes.push_back(head);
  const Ring ring(sizes);
  const auto found = find_shards(ring.steps, ring.channels);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->collectives, 14u);
  EXPECT_NEAR(found->model, (head + 4 * layer) / (2 * head + 12 * layer), 1e-4);
}

TEST(FindShards, AreNotEqualPieces) {
  const Ring ring(std::vector<double>(16, 9e6));
  EXPECT_FALSE(find_shards(ring.steps, ring.channels));
}

// Four layers of 4 and a last one of 7 that is kept: gathered 7 4 4 4 4, back 4 4 4 4 with as many
// scattered, and 7 scattered. In all 12 times 4 and twice 7: 62, of a model of 23.
TEST(Shards, AreSizesThatComeInThrees) {
  const auto found = shards_of({7, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->collectives, 14u);
  EXPECT_NEAR(found->model, 23.0 / 62, 1e-9);
  EXPECT_NEAR(found->gathered, (32.0 + 7) / 62, 1e-9);
}

TEST(Shards, AreFoundWhereSomeFollowWithoutAPause) {
  const auto found = shards_of({7, 4, 8, 4, 12, 4, 4, 8, 4, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 23.0 / 62, 1e-9);
}

TEST(Shards, AreNotBucketsOfDifferentSizes) {
  EXPECT_FALSE(shards_of({1, 25, 25.8, 26.9, 11, 13}, 4));
}

TEST(Shards, AreNotTheRoundsOfTwoBuckets) {
  // Six rounds of each of two buckets, in a ring of four.
  EXPECT_FALSE(shards_of({2, 2, 2, 2, 2, 2, 5, 5, 5, 5, 5, 5}, 4));
}

TEST(Shards, AreNotBucketsOfWhichSomeAreAlike) {
  EXPECT_FALSE(shards_of({4, 4, 4, 7, 7}, 4));
  EXPECT_FALSE(shards_of({4, 4, 4, 7, 7}, 2));
}

TEST(Shards, AreToldFromRoundsWhereBothComeInThrees) {
  // In a ring of four, with a head that is not kept.
  const auto found = shards_of({7, 4, 4, 4, 4, 4, 4, 7, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 1.0 / 3, 1e-9);
}

TEST(Shards, MayHaveAHeadOfAWholeNumberOfLayers) {
  for (const double head : {8.0, 12.0}) {
    const auto found = shards_of({head, 4, 4, 4, 4, 4, 4, head, head}, 5);
    ASSERT_TRUE(found) << head;
    EXPECT_EQ(found->collectives, 9u);
    EXPECT_NEAR(found->model, 1.0 / 3, 1e-9);
  }
}

TEST(Shards, AreFoundBetweenTwoHosts) {
  const auto found = shards_of({7, 4, 4, 4, 4, 4, 4, 7}, 2);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 15.0 / 38, 1e-9);
  // Two rounds of each of three buckets.
  EXPECT_FALSE(shards_of({4, 4, 7, 7, 4, 4}, 2));
}

TEST(Shards, AreNotEqualPartsAlone) { EXPECT_FALSE(shards_of({3, 3, 3, 3, 3, 3}, 5)); }

}  // namespace
}  // namespace tw::recognise
