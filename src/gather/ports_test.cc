// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/ports.h"

#include <gmock/gmock.h>

#include <set>

namespace tw::gather {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Flows of one address, "from" and "to" being ports, of a megabyte each.
Captured between(const std::vector<std::pair<std::uint16_t, std::uint16_t>>& ports) {
  Captured traffic{};
  traffic.addresses = {packet::Address{}, packet::v4_address(0x7f000001)};
  flow::PairCount pair{.source = 1, .destination = 1};
  for (const auto& [from, to] : ports) {
    flow::Flow flow{.key = {.source = 1,
                            .destination = 1,
                            .source_port = from,
                            .destination_port = to,
                            .protocol = 6}};
    flow.packets = 10;
    flow.payload_bytes = 1'000'000;
    pair.packets += 10;
    pair.stream_bytes += 1'000'000;
    pair.payload_bytes += 1'000'000;
    traffic.flows.push_back(std::move(flow));
  }
  traffic.pairs.push_back(pair);
  return traffic;
}

/// Each rank sends to one, and gets from one, and all are one circle.
bool is_circle(const Captured& traffic) {
  std::map<std::uint32_t, std::uint32_t> next;
  for (const flow::Flow& flow : traffic.flows) next[flow.key.source] = flow.key.destination;
  std::set<std::uint32_t> seen;
  std::uint32_t at = next.begin()->first;
  while (seen.insert(at).second) {
    if (!next.contains(at)) return false;
    at = next.at(at);
  }
  return seen.size() == next.size() && at == next.begin()->first;
}

TEST(Ports, ARingWhoseRanksHaveTwoPortsEachIsClosed) {
  Captured ring = between({{40001, 5001}, {40002, 5002}, {40003, 5003}, {40004, 5000}});
  const PortHosts found = ports_as_hosts(ring);
  ASSERT_THAT(found.names, SizeIs(4));
  EXPECT_TRUE(found.is_guess);
  EXPECT_TRUE(is_circle(ring));
  std::set<std::string> names;
  for (const auto& [address, name] : found.names) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"127.0.0.1:40001", "127.0.0.1:40002", "127.0.0.1:40003",
                                          "127.0.0.1:40004"}));
  EXPECT_EQ(real_text(ring.addresses.back()), "127.0.0.1");
  // Each byte is counted once, as before.
  std::uint64_t bytes = 0;
  for (const flow::PairCount& pair : ring.pairs) bytes += pair.stream_bytes;
  EXPECT_EQ(bytes, 4'000'000U);
}

// As Gloo connects: who has the lower port waits, and the other comes from any port.
TEST(Ports, AMeshIsClosedWherePortsAreShared) {
  Captured ring = between({{100, 40001}, {101, 40002}, {102, 40003}, {40004, 100}});
  EXPECT_THAT(ports_as_hosts(ring).names, SizeIs(4));
  EXPECT_TRUE(is_circle(ring));
}

TEST(Ports, AServerIsOneAndBothWaysAreTwo) {
  Captured server = between({{40001, 80}, {80, 40001}, {40002, 80}, {80, 40002}});
  const PortHosts found = ports_as_hosts(server);
  EXPECT_THAT(found.names, SizeIs(3));
  EXPECT_FALSE(found.is_guess);
  EXPECT_EQ(server.flows[0].key.destination, server.flows[2].key.destination);
}

TEST(Ports, ProcessesAreKnownBetter) {
  Captured ring = between({{1, 2}, {3, 4}, {5, 6}});
  const PortHosts found =
      ports_as_hosts(ring, {{1, 10}, {6, 10}, {2, 20}, {3, 20}, {4, 30}, {5, 30}});
  ASSERT_THAT(found.names, SizeIs(3));
  EXPECT_FALSE(found.is_guess);
  EXPECT_TRUE(is_circle(ring));
  EXPECT_EQ(found.names[0].second, "process 10");
}

TEST(Ports, WhereThereAreSeveralAddressesNothingChanges) {
  Captured traffic = between({{1, 2}});
  traffic.addresses.push_back(packet::v4_address(0x7f000002));
  traffic.flows[0].key.destination = 2;
  EXPECT_THAT(ports_as_hosts(traffic).names, IsEmpty());
  Captured nothing{};
  EXPECT_THAT(ports_as_hosts(nothing).names, IsEmpty());
}

}  // namespace
}  // namespace tw::gather
