// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/pulls.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tw::recognise {
namespace {

constexpr double kMs = 1e6;
constexpr std::int64_t kGapNs = 500'000;
constexpr int kHosts = 4;

using Channels = std::vector<rhythm::Channel>;

Channels all_pairs() {
  Channels channels;
  for (int from = 0; from < kHosts; ++from) {
    for (int to = 0; to < kHosts; ++to) {
      if (from == to) continue;
      channels.push_back({.from = from, .to = to, .flows = {}, .bursts = {}, .bytes = 0});
    }
  }
  return channels;
}

void append(Channels& channels, int from, int to, double at, std::uint64_t bytes) {
  for (rhythm::Channel& channel : channels) {
    if (channel.from != from || channel.to != to) continue;
    const auto start = static_cast<std::int64_t>(at);
    channel.bursts.push_back(
        {.start_ns = start, .end_ns = start + 1'000'000, .bytes = bytes, .packets = 10});
    channel.bytes += bytes;
  }
}

/// Every host fetches from a peer that chance chooses, every 50 ms or a little later.
Channels fetched(std::uint64_t bytes) {
  Random random(1, "pulls");
  Channels channels = all_pairs();
  for (int host = 0; host < kHosts; ++host) {
    double at = kMs * 10 * host;
    for (int i = 0; i < 60; ++i) {
      const int other = static_cast<int>((kHosts - 1) * random.uniform());
      append(channels, other < host ? other : other + 1, host, at, bytes);
      at += kMs * (50 + 5 * random.uniform());
    }
  }
  return channels;
}

/// Every host sends to all others every 150 ms, whoever else sends.
Channels pushed(std::uint64_t bytes) {
  const double phases[kHosts] = {0, 40, 60, 110};
  Channels channels = all_pairs();
  for (int i = 0; i < 20; ++i) {
    for (int from = 0; from < kHosts; ++from) {
      for (int to = 0; to < kHosts; ++to) {
        append(channels, from, to, kMs * (phases[from] + 150 * i), bytes);
      }
    }
  }
  return channels;
}

TEST(FindPulls, FindsHostsThatFetchFromOneAnother) {
  const auto found = find_pulls(fetched(200'000), kGapNs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->by_host.size(), 4u);
  EXPECT_NEAR(found->bytes, 200'000, 1);
}

TEST(FindPulls, LeavesOutThoseWhoSendAtAPaceOfTheirOwn) {
  EXPECT_FALSE(find_pulls(pushed(200'000), kGapNs));
}

TEST(FindPulls, LeavesOutAFewPackets) { EXPECT_FALSE(find_pulls(fetched(500), kGapNs)); }

}  // namespace
}  // namespace tw::recognise
