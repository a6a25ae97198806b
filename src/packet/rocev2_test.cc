// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/rocev2.h"

#include <gtest/gtest.h>

namespace tw::packet {
namespace {

TEST(Rocev2MessageBytes, TakesHeadersAndChecksumAway) {
  // Base header 12 and checksum 4 always; a remote address 16; an acknowledgement header 4.
  EXPECT_EQ(rocev2_message_bytes(0x07, 0, 1024 + 16), 1024u);       // RDMA WRITE middle
  EXPECT_EQ(rocev2_message_bytes(0x06, 0, 1024 + 16 + 16), 1024u);  // RDMA WRITE first
  EXPECT_EQ(rocev2_message_bytes(0x0b, 0, 1024 + 16 + 20), 1024u);  // only, with immediate
  EXPECT_EQ(rocev2_message_bytes(0x0d, 0, 1024 + 16 + 4), 1024u);   // RDMA READ response first
  EXPECT_EQ(rocev2_message_bytes(0x04, 3, 4 + 16), 1u);             // SEND only of one byte
  EXPECT_EQ(rocev2_message_bytes(0x64, 0, 100 + 16 + 8), 100u);     // datagram SEND only
  EXPECT_EQ(rocev2_message_bytes(0xa7, 0, 1024 + 16 + 4), 1024u);  // extended reliable WRITE middle
  EXPECT_EQ(rocev2_message_bytes(0xae, 0, 1024 + 16), 1024u);      // its READ response middle
}

TEST(Rocev2MessageBytes, IsZeroWhereThereIsNoMessage) {
  EXPECT_EQ(rocev2_message_bytes(0x11, 0, 20), 0u);    // acknowledgement
  EXPECT_EQ(rocev2_message_bytes(0x0c, 0, 32), 0u);    // RDMA READ request
  EXPECT_EQ(rocev2_message_bytes(0x81, 0, 32), 0u);    // congestion notification
  EXPECT_EQ(rocev2_message_bytes(0x1f, 0, 1000), 0u);  // reserved
  EXPECT_EQ(rocev2_message_bytes(0x07, 3, 12), 0u);    // shorter than its headers
}

}  // namespace
}  // namespace tw::packet
