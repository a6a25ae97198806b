// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/places.h"

#include "trainwire/account/test_experiments.h"
#include "trainwire/account/without.h"
#include "trainwire/spec/links.h"

#include <gtest/gtest.h>

namespace tw::account {
namespace {

constexpr const char* kSlowIn =
    "[network]\nhosts = 4\nrate = \"200Mbit\"\n"
    "[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\nrate = \"50Mbit\"\n"
    "[[job]]\nparameters = \"1MB\"\n";

TEST(Places, FindALinkThatIsSlowerThanItsPeers) {
  const std::vector<SlowLink> slow = slow_links(parsed(kSlowIn), 0);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0], (SlowLink{"host1", spec::Direction::ToHost, 50_Mbit, 200_Mbit}));
  EXPECT_EQ(place_name(slow[0].link, slow[0].direction), "host1 to_host");
  EXPECT_EQ(place_words(slow[0].link, slow[0].direction, false), "host1's way in");
}

// Three of four were made faster: the one that the file says nothing of is slow.
TEST(Places, FindTheOneThatWasForgotten) {
  std::string text = "[network]\nhosts = 4\nrate = \"50Mbit\"\n[[job]]\nparameters = \"1MB\"\n";
  for (const char* host : {"host0", "host1", "host3"}) {
    text += std::string("[[network.link]]\nat = \"") + host + "\"\nrate = \"200Mbit\"\n";
  }
  const std::vector<SlowLink> slow = slow_links(parsed(text), 0);
  ASSERT_EQ(slow.size(), 2U);  // both directions
  EXPECT_EQ(slow[0].link, "host2");
  EXPECT_EQ(slow[0].peers, 200_Mbit);
}

TEST(Places, OfAnotherJobDoNotCount) {
  const std::string text =
      "[network]\nhosts = 4\nrate = \"200Mbit\"\n"
      "[[network.link]]\nat = \"host3\"\nrate = \"50Mbit\"\n"
      "[[job]]\nparameters = \"1MB\"\nhosts = [\"host0\", \"host1\"]\n"
      "[[job]]\nparameters = \"1MB\"\nhosts = [\"host2\", \"host3\"]\n";
  EXPECT_TRUE(slow_links(parsed(text), 0).empty());
  EXPECT_EQ(slow_links(parsed(text), 1).size(), 2U);
}

TEST(Places, KnowANarrowCore) {
  const auto dumbbell = [](const std::string& core) {
    return parsed("[network]\nhosts = 4\nrate = \"200Mbit\"\ntopology = \"dumbbell\"\n" + core +
                  "[[job]]\nparameters = \"1MB\"\nhosts = [\"host0\", \"host2\"]\n");
  };
  EXPECT_EQ(narrow_core(dumbbell(""), 0), std::nullopt);
  EXPECT_EQ(narrow_core(dumbbell("core_rate = \"100Mbit\"\n"), 0),
            (NarrowCore{.rate = 100_Mbit, .needed = 200_Mbit}));
  EXPECT_EQ(narrow_core(parsed(kSlowIn), 0), std::nullopt);
}

TEST(Without, SlowLinksHaveTheirPeersRate) {
  const spec::Experiment made = without_slow_links(parsed(kSlowIn), 0);
  EXPECT_TRUE(slow_links(made, 0).empty());
  EXPECT_EQ(*spec::host_link(made.network, 1, spec::Direction::ToHost).rate, 200_Mbit);
}

TEST(Without, WhatIsNotThereChangesNothing) {
  const spec::Experiment plain = parsed("[network]\nhosts = 3\n[[job]]\nparameters = \"1MB\"\n");
  EXPECT_EQ(without_traffic(plain), plain);
  EXPECT_EQ(alone(plain, 0), plain);
  EXPECT_EQ(without_late_ranks(plain, 0), plain);
  EXPECT_EQ(without_slow_links(plain, 0), plain);
  EXPECT_EQ(without_window(plain), plain);
  EXPECT_EQ(without_overlap(plain, 0), plain);
}

// One bandwidth-delay product of 20 ms stays that many bytes when there is no delay any more.
TEST(Without, DelayLeavesQueuesAsTheyWere) {
  const spec::Experiment before = parsed(
      "[network]\nhosts = 2\nrate = \"100Mbit\"\ndelay = \"5ms\"\nqueue = \"1bdp\"\n"
      "[[job]]\nparameters = \"1MB\"\n");
  const spec::Experiment after = without_delay(before);
  EXPECT_EQ(after.network.link.delay->count(), 0);
  EXPECT_EQ(spec::queue_bytes(after.network, after.network.link),
            spec::queue_bytes(before.network, before.network.link));
}

}  // namespace
}  // namespace tw::account
