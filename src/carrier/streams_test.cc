// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/streams.h"

#include <gmock/gmock.h>

namespace tw::carrier {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Streams, EachDirectionCountsOnceAsItsSenderSaysIt) {
  const std::vector<TcpCount> counts{
      {.from = "10.0.0.1:10", .to = "10.0.0.2:20", .sent = 100, .received = 6},
      {.from = "10.0.0.2:20", .to = "10.0.0.1:10", .sent = 7, .received = 99}};
  EXPECT_THAT(stream_bytes(counts), UnorderedElementsAre(Pair(Pair("10.0.0.1", "10.0.0.2"), 100),
                                                         Pair(Pair("10.0.0.2", "10.0.0.1"), 7)));
}

TEST(Streams, ASenderThatIsNoCarrierIsCountedByItsReceiver) {
  const std::vector<TcpCount> counts{
      {.from = "10.0.0.2:20", .to = "10.0.0.1:10", .sent = 50, .received = 9},
      {.from = "10.0.0.2:21", .to = "10.0.0.1:11", .sent = 1, .received = 2}};
  EXPECT_THAT(stream_bytes(counts), UnorderedElementsAre(Pair(Pair("10.0.0.1", "10.0.0.2"), 11),
                                                         Pair(Pair("10.0.0.2", "10.0.0.1"), 51)));
}

TEST(Streams, AddressesWithColonsKeepThem) {
  const std::vector<TcpCount> counts{{.from = "fd00::1:10", .to = "fd00::2:20", .sent = 3}};
  EXPECT_THAT(stream_bytes(counts), testing::Contains(Pair(Pair("fd00::1", "fd00::2"), 3)));
}

}  // namespace
}  // namespace tw::carrier
