// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::flow {
namespace {

Traffic three_addresses() {
  Traffic traffic{};
  traffic.addresses = {capture::Address{}, capture::v4_address(0x0a000003),
                       capture::v4_address(0x0a000001), capture::v4_address(0x0a000002)};
  traffic.pairs.push_back({.source = 1, .destination = 2});
  traffic.pairs.push_back({.source = 2, .destination = 3});
  return traffic;
}

TEST(HostTable, OrdersHostsByAddress) {
  const HostTable table = host_table(three_addresses(), {});
  ASSERT_EQ(table.hosts.size(), 3);
  EXPECT_EQ(table.hosts[0].name, "10.0.0.1");
  EXPECT_EQ(table.hosts[2].name, "10.0.0.3");
  EXPECT_EQ(table.host_of[1], 2);
}

TEST(HostTable, JoinsAddressesOfOneName) {
  const HostTable table =
      host_table(three_addresses(), {{"10.0.0.1", "alpha"}, {"10.0.0.3", "alpha"}});
  ASSERT_EQ(table.hosts.size(), 2);
  EXPECT_THAT(table.hosts[0].addresses, ::testing::ElementsAre(2, 1));
  EXPECT_EQ(table.host_of[1], table.host_of[2]);
}

}  // namespace
}  // namespace tw::flow
