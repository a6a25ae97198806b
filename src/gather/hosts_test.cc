// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::gather {
namespace {

Captured three_addresses() {
  Captured traffic{};
  traffic.addresses = {packet::Address{}, packet::v4_address(0x0a000003),
                       packet::v4_address(0x0a000001), packet::v4_address(0x0a000002)};
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

// Neighbour discovery: nobody's payload, groups of hosts, and second addresses of known machines.
TEST(HostTable, CountsNoGroupsAndNoAddressesOfTheLinkWithoutPayload) {
  Captured traffic = three_addresses();
  for (const char* text : {"ff02::1", "224.0.0.251", "255.255.255.255", "fe80::1", "fe80::2"}) {
    const auto number = static_cast<std::uint32_t>(traffic.addresses.size());
    traffic.addresses.push_back(packet::parse_address(text));
    traffic.pairs.push_back({.source = 1, .destination = number});
  }
  traffic.pairs.push_back({.source = 7, .destination = 8});
  const HostTable table = host_table(traffic, {});
  EXPECT_EQ(table.hosts.size(), 3);
  EXPECT_EQ(table.host_of[4], kNoHost);
  EXPECT_EQ(table.host_of[7], kNoHost);
}

TEST(HostTable, CountsAnAddressOfTheLinkThatCarriesPayload) {
  Captured traffic = three_addresses();
  traffic.addresses.push_back(packet::parse_address("fe80::1"));
  traffic.addresses.push_back(packet::parse_address("fe80::2"));
  flow::PairCount pair{.source = 4, .destination = 5};
  pair.stream_bytes = 1'000;
  traffic.pairs.push_back(pair);
  EXPECT_EQ(host_table(traffic, {}).hosts.size(), 5);
}

}  // namespace
}  // namespace tw::gather
