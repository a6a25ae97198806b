// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/small_flows.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tw::summarise {
namespace {

std::vector<std::int64_t> kept_of(const std::vector<std::int64_t>& told, std::size_t most) {
  const std::vector<packet::Address> addresses{{}, packet::v4_address(1), packet::v4_address(2)};
  SmallFlows flows(most);
  for (const std::int64_t first_ns : told) {
    flow::Flow flow{.key = {.source = 1,
                            .destination = 2,
                            .source_port = static_cast<std::uint16_t>(first_ns),
                            .destination_port = 80,
                            .protocol = 6}};
    flow.first_ns = first_ns;
    flow.series.append(0, 100);
    flows.add(flow, addresses);
  }
  std::vector<std::int64_t> kept;
  for (const SmallFlow& small : std::move(flows).earliest()) {
    EXPECT_EQ(small.source, "0.0.0.1");
    EXPECT_EQ(small.destination, "0.0.0.2");
    EXPECT_TRUE(small.flow.series.windows().empty());
    kept.push_back(small.flow.first_ns);
  }
  return kept;
}

TEST(SmallFlows, AreTheEarliestWhateverTheOrder) {
  std::vector<std::int64_t> told(1000);
  std::iota(told.begin(), told.end(), 0);
  const std::vector<std::int64_t> first(told.begin(), told.begin() + 70);
  std::mt19937 random(3);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(kept_of(told, 70), first);
    EXPECT_EQ(kept_of(told, 2000).size(), 1000u);
    std::shuffle(told.begin(), told.end(), random);
  }
}

}  // namespace
}  // namespace tw::summarise
