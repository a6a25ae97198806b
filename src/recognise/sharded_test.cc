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

TEST(FindShards, KnowsAHeadThatIsGatheredAgain) {
  const double layer = 2e6;
  const double head = 5.3e6;
  std::vector<double> sizes{head, layer, layer, layer, head};
  sizes.insert(sizes.end(), 6, layer);
  sizes.push_back(head);
  const Ring ring(sizes);
  const auto found = find_shards(ring.steps, ring.channels);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 1.0 / 3, 1e-4);
}

TEST(FindShards, AreNotEqualBucketsBetweenOthers) {
  const Ring ring({3e6, 9e6, 9e6, 9e6, 9e6, 9e6, 9e6, 9e6, 9e6, 9e6, 5.1e6});
  const auto found = find_shards(ring.steps, ring.channels);
  EXPECT_FALSE(found && found->is_clear());
}

// Six rounds of 19 pieces and a rest, as around four hosts.
TEST(FindShards, AreNotRoundsInPieces) {
  std::vector<double> sizes;
  for (int round = 0; round < 6; ++round) {
    sizes.insert(sizes.end(), 19, 3.2e6);
    sizes.push_back(1.1e6);
  }
  const Ring ring(sizes);
  const auto found = find_shards(ring.steps, ring.channels);
  EXPECT_FALSE(found && found->is_clear());
}

// Passed on as they come, whatever the rounds.
TEST(FindShards, AreNotPiecesBehindASmallerOne) {
  std::vector<double> sizes{0.7e6};
  sizes.insert(sizes.end(), 110, 3.2e6);
  sizes.push_back(2.1e6);
  const Ring ring(sizes);
  const auto found = find_shards(ring.steps, ring.channels);
  EXPECT_FALSE(found && found->is_clear());
}

TEST(FindShards, AreNotEqualPieces) {
  const Ring ring(std::vector<double>(16, 9e6));
  const auto found = find_shards(ring.steps, ring.channels);
  EXPECT_FALSE(found && found->is_clear());
}

}  // namespace
}  // namespace tw::recognise
