// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/frame.h"

#include "trainwire/base/error.h"
#include "trainwire/packet/byte_order.h"

#include <gtest/gtest.h>

namespace tw::packet {
namespace {

const Address kA = parse_address("10.0.0.1");
const Address kB = parse_address("10.0.0.2");

TEST(MakeFrame, WritesTheHeadersOfTcpInIpv4InEthernet) {
  const Frame frame = make_frame({.source = kA,
                                  .destination = kB,
                                  .source_port = 5001,
                                  .destination_port = 29500,
                                  .tcp = {.sequence = 0x01020304, .flags = kAck | kPsh},
                                  .payload_bytes = 100});
  // 14 + 20 + 20 header bytes.
  EXPECT_EQ(frame.original_bytes, 154u);
  ASSERT_EQ(frame.bytes.size(), 154u);
  EXPECT_EQ(load_big<std::uint16_t>(&frame.bytes[12]), 0x0800);
  EXPECT_EQ(load_big<std::uint16_t>(&frame.bytes[16]), 140);
  EXPECT_EQ(load_big<std::uint32_t>(&frame.bytes[30]), 0x0a000002u);
  EXPECT_EQ(load_big<std::uint16_t>(&frame.bytes[36]), 29500);
  EXPECT_EQ(load_big<std::uint32_t>(&frame.bytes[38]), 0x01020304u);
  EXPECT_EQ(load_big<std::uint8_t>(&frame.bytes[47]), 0x18);
}

TEST(MakeFrame, KeepsOnlyTheSnapLengthOfALargeFrame) {
  const Frame frame =
      make_frame({.source = kA, .destination = kB, .payload_bytes = 500'000, .snaplen = 96});
  EXPECT_EQ(frame.bytes.size(), 96u);
  EXPECT_EQ(frame.original_bytes, 500'054u);
  EXPECT_EQ(load_big<std::uint16_t>(&frame.bytes[16]), 0)
      << "65,535 bytes are the most IPv4 can state";
}

TEST(MakeFrame, PadsToTheLeastLength) {
  EXPECT_EQ(make_frame({.source = kA, .destination = kB, .least_bytes = 60}).bytes.size(), 60u);
}

TEST(MakeFrame, RefusesWhatItCannotWrite) {
  EXPECT_THROW(make_frame({.source = kA, .destination = parse_address("fd00::1")}), SpecError);
  EXPECT_THROW(make_frame({.source = kA, .destination = kB, .link_type = 105}), SpecError);
}

}  // namespace
}  // namespace tw::packet
