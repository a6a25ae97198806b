// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/sockets.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tw::programs {
namespace {

using testing::IsEmpty;

// As Linux 6.1 writes them on a machine whose words begin with their least byte.
TEST(ParseSockets, ReadsWhatTheKernelWrites) {
  const auto sockets = parse_sockets(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 01004D0A:733C 02004D0A:A2F8 01 00000000:00000000 00:00000000 00000000     0        0 "
      "9911 1 ffff 20 4 30 10 -1\n"
      "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "77 1 ffff 100 0 0 10 0\n"
      "   2: 0100007F:1388 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "78 1 ffff 100 0 0 10 0\n"
      "   3: 01004D0A:733C 02004D0A:A2F8 06 00000000:00000000 03:00000B4C 00000000     0        0 "
      "0 "
      "3 ffff\n");
  ASSERT_EQ(sockets.size(), 1);  // neither of every address, nor loopback, nor of nobody
  EXPECT_EQ(sockets[0].address, "10.77.0.1");
  EXPECT_EQ(sockets[0].port, 29500);
  EXPECT_EQ(sockets[0].inode, 9911);
}

TEST(ParseSockets, KnowsIpv4InIpv6) {
  const auto sockets = parse_sockets(
      "   0: 0000000000000000FFFF000001004D0A:0050 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000     0        0 5 1 ffff\n");
  ASSERT_EQ(sockets.size(), 1);
  EXPECT_EQ(sockets[0].address, "10.77.0.1");
}

TEST(ParseSockets, LeavesOutWhatIsNone) {
  EXPECT_THAT(parse_sockets("0: x:y z 1 2 3 4 5 6 7 8\n\n0: 01004D0A\n"), IsEmpty());
}

// Loopback is left out, so that this process has sockets only where the machine has an address.
TEST(Sockets, OfAProcessAreItsJobs) {
  Sockets sockets(2);
  sockets.add(1, ::getpid());
  sockets.look();
  EXPECT_EQ(sockets.endpoints().size(), 2);
  EXPECT_THAT(sockets.endpoints()[0], IsEmpty());
}

}  // namespace
}  // namespace tw::programs
