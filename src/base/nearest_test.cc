// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace tw {
namespace {

constexpr std::array<std::string_view, 5> kKeys{"rate", "delay", "loss", "queue",
                                                "congestion_control"};

TEST(EditDistance, CountsASwapOfNeighboursOnce) {
  EXPECT_EQ(edit_distance("rate", "raet"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("Rate", "rate"), 0);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Nearest, FindsTheMisspeltName) {
  EXPECT_EQ(nearest("dealy", kKeys), "delay");
  EXPECT_EQ(nearest("rates", kKeys), "rate");
  EXPECT_EQ(nearest("congestion", kKeys), "congestion_control");
}

TEST(Nearest, GivesNothingForAStranger) {
  EXPECT_EQ(nearest("bandwidth", kKeys), std::nullopt);
  // Two of three letters differ from "job": no likeness.
  constexpr std::array<std::string_view, 1> kShort{"job"};
  EXPECT_EQ(nearest("foo", kShort), std::nullopt);
}

}  // namespace
}  // namespace tw
