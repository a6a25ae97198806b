// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/live.h"

#include "trainwire/capture/live_test_net.h"
#include "trainwire/capture/test_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tw::capture {
namespace {

using testing::HasSubstr;

std::vector<std::uint32_t> lengths(const std::string& file) {
  std::vector<std::uint32_t> found;
  const auto reader = open_capture(file);
  for (const packet::Packet& packet : read_all(*reader).packets) found.push_back(packet.wire_bytes);
  return found;
}

TEST(LiveCapture, HoldsEveryFrameAtBothEndsOfACable) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  const TemporaryFolder folder;
  LiveCapture capture({{*network, "left", folder.path() / "left.pcap"},
                       {*network, "right", folder.path() / "right.pcap"}});
  // What leaves the left end arrives at the right one: 500 frames of 60, 61, ..., 559 bytes.
  std::vector<std::uint32_t> sent;
  const FrameSender sender(*network, "left");
  for (std::uint32_t bytes = 60; bytes < 560; ++bytes) {
    ASSERT_TRUE(sender.send(bytes));
    sent.push_back(bytes);
  }
  for (const LiveResult& result : capture.stop()) {
    EXPECT_EQ(result.failure, std::nullopt);
    EXPECT_EQ(result.packets, 500);
    EXPECT_EQ(result.bytes, 500 * (60 + 559) / 2);
    EXPECT_EQ(result.dropped, 0);
    EXPECT_EQ(lengths(result.file), sent);
  }
}

TEST(LiveCapture, KeepsTheSnapLengthOfAFrameAndItsOriginalLength) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  const TemporaryFolder folder;
  const std::string file = folder.path() / "x.pcap";
  LiveCapture capture({{*network, "right", file}}, {.snap_length = 96});
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  const FrameSender sender(*network, "left");
  for (const std::size_t bytes : {60, 96, 97, 1514}) ASSERT_TRUE(sender.send(bytes));
  EXPECT_EQ(capture.stop().at(0).bytes, 60 + 96 + 97 + 1514);

  const auto reading = read_all(*open_capture(file));
  ASSERT_EQ(reading.packets.size(), 4);
  EXPECT_TRUE(reading.facts.nanoseconds);
  const std::array<std::uint32_t, 4> kept = {60, 96, 96, 96};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(reading.packets[i].captured_bytes, kept[i]);
    EXPECT_GE(reading.packets[i].time_ns, std::chrono::nanoseconds(before).count());
  }
}

TEST(LiveCapture, WritesWhatIsKeptUpToALimit) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  const TemporaryFolder folder;
  LiveCapture capture(
      {{*network, "right", folder.path() / "x.pcap"}},
      {.keep = [](const packet::Record& record) { return record.original_bytes > 60; },
       .most = Bytes(2 * (100 + 16))});
  const FrameSender sender(*network, "left");
  for (const std::size_t bytes : {60, 100, 60, 100, 101, 60}) ASSERT_TRUE(sender.send(bytes));
  const LiveResult result = capture.stop().at(0);
  EXPECT_EQ(result.packets, 6U);
  EXPECT_EQ(result.written, 2U);
  EXPECT_TRUE(result.is_full);
  EXPECT_EQ(result.failure, std::nullopt);
  EXPECT_EQ(lengths(result.file), (std::vector<std::uint32_t>{100, 100}));
}

TEST(LiveCapture, StoresASuperFrameOnceWithItsWholeLength) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  const TemporaryFolder folder;
  const std::string file = folder.path() / "x.pcap";
  LiveCapture capture({{*network, "lo", file}}, {.snap_length = 60});
  const os::InNetwork inside(*network);
  const os::FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  socklen_t size = sizeof to;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&to), &size);
  const int segment = 1000;
  ASSERT_EQ(::setsockopt(socket.get(), SOL_UDP, UDP_SEGMENT, &segment, sizeof segment), 0);
  const std::vector<std::byte> payload(40'000);
  ASSERT_EQ(::sendto(socket.get(), payload.data(), payload.size(), 0,
                     reinterpret_cast<sockaddr*>(&to), sizeof to),
            40'000);
  capture.stop();
  // 14 bytes of Ethernet, 20 of IP, 8 of UDP. Once, although a loopback interface sees the frame go
  // and come.
  EXPECT_EQ(lengths(file), std::vector<std::uint32_t>{40'042});
}

TEST(LiveCapture, CanBeStoppedWhileFramesGoOn) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  const TemporaryFolder folder;
  const std::string file = folder.path() / "x.pcapng";
  std::atomic<bool> goes_on = true;
  std::thread traffic([&] {
    const FrameSender sender(*network, "left");
    while (goes_on) sender.send(200);
  });
  LiveCapture capture({{*network, "right", file}}, {.format = FileFormat::Pcapng});
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const LiveResult result = capture.stop().at(0);
  goes_on = false;
  traffic.join();
  EXPECT_EQ(result.failure, std::nullopt);
  EXPECT_GT(result.packets, 0);
  const auto reading = read_all(*open_capture(file));
  EXPECT_EQ(reading.packets.size(), result.packets);
  EXPECT_EQ(reading.facts.interfaces.at(0).name, "right");
  EXPECT_EQ(reading.facts.interfaces.at(0).dropped, result.dropped);
}

TEST(LiveCapture, AFullDiskEndsOnlyItsOwnFile) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  const TemporaryFolder folder;
  const std::string file = folder.path() / "x.pcap";
  LiveCapture capture({{*network, "left", "/dev/full"}, {*network, "right", file}},
                      {.snap_length = 0});
  // More than the writer's buffer of 1 MiB, so that it fails in the middle.
  const FrameSender sender(*network, "left");
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(sender.send(1500));
  const auto results = capture.stop();
  EXPECT_THAT(results[0].failure.value_or(""), HasSubstr("/dev/full: No space left on device"));
  EXPECT_EQ(results[0].packets, 1000);
  EXPECT_EQ(results[1].failure, std::nullopt);
  EXPECT_EQ(lengths(file).size(), 1000);
}

TEST(LiveCapture, CountsWhatFindsTheRingFull) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  // A pipe that nobody reads yet is a disk that does not keep up. It takes 64 KiB, the writer holds
  // up to 2 MiB and the ring 512 KiB: much less than the 30 MB that are sent.
  const TemporaryFolder folder;
  const std::string pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const os::FileDescriptor end(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  LiveCapture capture({{*network, "right", pipe}}, {.snap_length = 0, .ring = 512_KiB});
  const FrameSender sender(*network, "left");
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(sender.send(1500));

  FileBytes stored;
  ASSERT_EQ(::fcntl(end.get(), F_SETFL, 0), 0);
  std::thread reader([&] {
    std::array<std::byte, 65536> piece;
    while (const auto got = os::read_some(end, piece)) {
      stored.insert(stored.end(), piece.begin(), piece.begin() + got);
    }
  });
  const LiveResult result = capture.stop().at(0);
  reader.join();
  EXPECT_EQ(result.failure, std::nullopt);
  EXPECT_GT(result.dropped, 15'000);
  // Every frame is either in the file or counted as dropped.
  EXPECT_EQ(result.packets + result.dropped, 20'000);
  EXPECT_EQ(read_all(stored).packets.size(), result.packets);
}

TEST(LiveCapture, SaysWhenTheInterfaceWentAway) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  const TemporaryFolder folder;
  LiveCapture capture({{*network, "right", folder.path() / "x.pcap"}});
  const os::InNetwork inside(*network);
  ifinfomsg which = {};
  which.ifi_index = static_cast<int>(::if_nametoindex("left"));
  os::NetlinkMessage gone(RTM_DELLINK, 0);
  gone.header(which);
  os::NetlinkSocket(NETLINK_ROUTE).request(std::move(gone), "removing the cable");
  EXPECT_THAT(capture.stop().at(0).failure.value_or(""),
              HasSubstr("capturing on right: Network is down"));
}

TEST(LiveCapture, RefusesAnInterfaceThatIsNotThere) {
  const auto network = test_network();
  if (!network) GTEST_SKIP() << "no namespaces here";
  const TemporaryFolder folder;
  try {
    LiveCapture({{*network, "eth7", folder.path() / "x.pcap"}});
    FAIL() << "eth7 was captured";
  } catch (const SystemError& error) {
    EXPECT_STREQ(error.what(), "capturing on eth7: No such device");
  }
}

}  // namespace
}  // namespace tw::capture
