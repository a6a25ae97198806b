// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/judged.h"
#include "trainwire/base/error.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tw::attach {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

Watched one_peer(double busy_s, double peer_limited_s, std::uint64_t again) {
  Connection before{.inode = 7,
                    .remote = "10.0.0.2",
                    .local_port = 1,
                    .remote_port = 2,
                    .sent_bytes = 100,
                    .sent_segments = 10,
                    .busy_s = 5};
  Connection after = before;
  after.sent_bytes += 1'000'000;
  after.sent_segments += 1000;
  after.sent_again += again;
  after.busy_s += busy_s;
  after.peer_limited_s = peer_limited_s;
  after.round_trip_s = 0.002;
  after.least_round_trip_s = 0.001;
  return {.seconds = 10, .before = {before}, .after = {after}};
}

TEST(Judged, SharesOfTimeDecide) {
  EXPECT_EQ(judged(one_peer(1, 0, 0)).cause, "compute");
  EXPECT_EQ(judged(one_peer(9, 8, 0)).cause, "late_peer");
  EXPECT_EQ(judged(one_peer(9, 0, 50)).cause, "loss");
  const Judged network = judged(one_peer(8, 0, 0));
  EXPECT_EQ(network.cause, "network");
  EXPECT_EQ(network.where, "10.0.0.2");
  EXPECT_EQ(network.peers[0].sent_bytes, 1'000'000U);  // since it was watched
  // 8 Mbit in 8 s.
  EXPECT_THAT(network.text, HasSubstr("80 % of the time, at 1 Mbit/s"));
  EXPECT_EQ(judged({.seconds = 1}).cause, "silent");
}

TEST(Judged, DevicesHaveMeanAndPeak) {
  const Watched watched{.seconds = 1,
                        .samples = {{0.0, {{"eth0", {0, 1000}}}},
                                    {0.5, {{"eth0", {0, 1000}}}},
                                    {1.0, {{"eth0", {500, 2000}}}}}};
  const Judged found = judged(watched);
  ASSERT_THAT(found.devices, SizeIs(1));
  EXPECT_DOUBLE_EQ(found.devices[0].sent_bps, 8000);
  EXPECT_DOUBLE_EQ(found.devices[0].peak_sent_bps, 16000);
}

TEST(Processes, DevicesAreReadFromProc) {
  const auto found = parse_devices(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo:  100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n"
      "  eth0: 2000 5 0 0 0 0 0 0 3000 7 0 0 0 0 0 0\n");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found.at("eth0"), (DeviceBytes{2000, 3000}));
  EXPECT_THROW(family_of(0x7fffffff), SystemError);
}

TEST(Sockets, AConnectionOfThisProcessIsFoundWithItsBytes) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), size), 0);
  const int server = ::accept(listener, nullptr, nullptr);
  const std::vector<char> bytes(5000);
  ASSERT_EQ(::send(client, bytes.data(), bytes.size(), 0), 5000);
  std::vector<char> taken(5000);
  ASSERT_EQ(::recv(server, taken.data(), taken.size(), MSG_WAITALL), 5000);
  const auto inodes = socket_inodes({::getpid()});
  auto diagnosis = open_diagnosis(0);
  std::vector<std::uint64_t> sent;
  for (const Connection& each : connections(diagnosis)) {
    if (inodes.contains(each.inode) && each.remote_port == ntohs(address.sin_port)) {
      EXPECT_EQ(each.remote, "127.0.0.1");
      sent.push_back(each.sent_bytes);
    }
  }
  EXPECT_THAT(sent, Contains(testing::AllOf(testing::Ge(5000U), testing::Le(5001U))));
  for (const int each : {client, server, listener}) ::close(each);
}

}  // namespace
}  // namespace tw::attach
