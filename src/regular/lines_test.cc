// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/lines.h"

#include <gmock/gmock.h>

#include <map>

namespace tw::regular {
namespace {

using namespace std::chrono_literals;

/// Hosts 0, 1, 2, ... with ports 10 * from + to and, over all of them, port 0.
Physics physics(double own, double common, int hosts = 4) {
  return {.ports = 10 * hosts,
          .line =
              [](int from, int to) {
                return Line{.ports = {10 * from + to, 0}};
              },
          .capacity = [=](int port) { return port == 0 ? common : own; },
          .leaving = [](double bytes, double rate) { return from_seconds(bytes / rate); },
          .passes_on = [](std::int64_t) { return false; }};
}

TEST(Steady, ConnectionsThatCannotFillACommonPortKeepTheirRates) {
  const auto found = steady(physics(10, 21), {{1, 2}, {2, 3}});
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0].rate, 10);
  EXPECT_EQ(leaving(physics(10, 21), (*found)[1], 5), 500ms);
  EXPECT_EQ(leaving(physics(10, 21), (*found)[1], 0), 0s);
}

TEST(Steady, ConnectionsThatMayFillACommonPortDoNot) {
  EXPECT_FALSE(steady(physics(10, 19), {{1, 2}, {2, 3}}));
  EXPECT_FALSE(steady(physics(10, 20), {{1, 2}, {2, 3}})) << "exactly full is full";
  EXPECT_TRUE(steady(physics(10, 19), {{1, 2}})) << "alone it may be";
}

TEST(Steady, InsideAHostNothingTakesTime) {
  const auto found = steady(physics(10, 5), {{1, 1}, {2, 2}, {2, 3}});
  ASSERT_TRUE(found);
  EXPECT_EQ(leaving(physics(10, 5), (*found)[0], 1'000'000), 0s);
  EXPECT_EQ((*found)[2].rate, 5);
}

TEST(Steady, APortThatCarriesNothingIsNobodys) { EXPECT_FALSE(steady(physics(0, 5), {{1, 2}})); }

}  // namespace
}  // namespace tw::regular
