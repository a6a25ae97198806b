// SPDX-License-Identifier: Apache-2.0
// The switch between real kernels' network stacks: hosts in namespaces of their own, joined by it.
// Needs root and /dev/net/tun; skipped with the reason elsewhere.

#include "trainwire/base/error.h"
#include "trainwire/measure/test_tries.h"
#include "trainwire/testbed/tap_test_network.h"

#include <gtest/gtest.h>
#include <netinet/udp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

namespace tw::testbed {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Why these tests cannot be run here.
std::optional<std::string> obstacle() {
  try {
    const os::FileDescriptor space = os::make_network_namespace();
    open_tap(space, "eth0", {2, 0, 0, 0, 0, 1});
  } catch (const SystemError& error) {
    return error.what();
  }
  return std::nullopt;
}

class TapNetwork : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = obstacle()) GTEST_SKIP() << *reason;
  }
};

/// One datagram there and back; nothing when it got lost.
std::optional<double> round_trip_s(const os::FileDescriptor& a, const os::FileDescriptor& b) {
  char byte = 1;
  const auto begin = steady_clock::now();
  ::send(a.get(), &byte, 1, 0);
  if (::recv(b.get(), &byte, 1, 0) != 1) return std::nullopt;
  ::send(b.get(), &byte, 1, 0);
  if (::recv(a.get(), &byte, 1, 0) != 1) return std::nullopt;
  return duration<double>(steady_clock::now() - begin).count();
}

// Four ports of 5 ms; a machine that is busy adds to it.
TEST_F(TapNetwork, ARoundTripTakesTheDelaysOfItsPorts) {
  const Network network("hosts = 3\nrate = \"1Gbit\"\ndelay = \"5ms\"");
  const auto a = network.open(0, SOCK_DGRAM, 5000);
  const auto b = network.open(2, SOCK_DGRAM, 5000);
  network.connect(a, 2, 5000);
  network.connect(b, 0, 5000);
  ASSERT_TRUE(round_trip_s(a, b));  // finds the neighbours' addresses
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) times.push_back(round_trip_s(a, b).value());
  std::sort(times.begin(), times.end());
  EXPECT_GE(times.front(), 0.020);
  EXPECT_LE(times[10], 0.040);
  RecordProperty("median_us", static_cast<int>(times[10] * 1e6));
}

/// Byte i of a stream whose order and values are easily told from any other.
std::uint8_t stream_byte(std::size_t i) { return static_cast<std::uint8_t>(i * 2654435761u >> 13); }

struct Transfer {
  std::size_t wrong;  ///< bytes that are not what was sent
  std::size_t received;
  double seconds;
  std::uint32_t told;  ///< segments whose acknowledgement told the sender of a mark
};

std::uint32_t segments_told(const os::FileDescriptor& socket) {
  tcp_info facts = {};
  socklen_t size = sizeof facts;
  must(::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &facts, &size) == 0, "TCP_INFO");
  return facts.tcpi_delivered_ce;
}

/// Sends a stream from host 0 to host 1 by TCP and checks what arrives.
Transfer transfer(const Network& network, std::size_t bytes) {
  const auto listener = network.open(1, SOCK_STREAM, 5000);
  must(::listen(listener.get(), 1) == 0, "listen");
  const auto sender = network.open(0, SOCK_STREAM, 5001);
  network.connect(sender, 1, 5000);
  const os::FileDescriptor receiver(::accept(listener.get(), nullptr, nullptr));
  const auto begin = steady_clock::now();
  const std::jthread sending([&] {
    std::vector<std::uint8_t> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = stream_byte(i);
    for (std::size_t sent = 0; sent < bytes;) {
      const ssize_t taken = ::send(sender.get(), &data[sent], bytes - sent, MSG_NOSIGNAL);
      if (taken <= 0) break;
      sent += static_cast<std::size_t>(taken);
    }
    ::shutdown(sender.get(), SHUT_WR);
  });
  Transfer result{.wrong = 0, .received = 0, .seconds = 0, .told = 0};
  std::vector<std::uint8_t> data(1 << 20);
  for (;;) {
    const ssize_t got = ::recv(receiver.get(), data.data(), data.size(), 0);
    if (got <= 0) break;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
      if (data[i] != stream_byte(result.received + i)) ++result.wrong;
    }
    result.received += static_cast<std::size_t>(got);
  }
  result.seconds = duration<double>(steady_clock::now() - begin).count();
  result.told = segments_told(sender);
  return result;
}

/// Half the width of the interval around n * p that holds 99.9 % of binomial counts.
double binomial_margin(double n, double p) { return 3.29 * std::sqrt(n * p * (1 - p)) + 1; }

// 20 MB are 13,812 segments of 1448 bytes and those sent again: at 1 % some 139 are lost. Each loss
// cuts a super-packet, and the receiving kernel accepts every piece.
void expect_intact_stream_despite_loss(const std::string& ip_version) {
  const Network network("hosts = 2\nip_version = " + ip_version +
                        "\nrate = \"1Gbit\"\ndelay = \"200us\"\nqueue = \"1MB\"\n"
                        "[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\nloss = \"1%\"");
  const Transfer result = transfer(network, 20'000'000);
  EXPECT_EQ(result.received, 20'000'000);
  EXPECT_EQ(result.wrong, 0);
  const fabric::PortCounters& lossy = network.port(3);
  const auto passed = static_cast<double>(lossy.packets - lossy.dropped);
  EXPECT_NEAR(static_cast<double>(lossy.lost), passed * 0.01, binomial_margin(passed, 0.01));
  EXPECT_GT(lossy.lost, 0);
  // Super-packets were in use: more than two segments per write, not counting the answers.
  EXPECT_LT(2 * (network.releases() - network.port(1).packets), lossy.packets);
  // The lost ones were really missing: they were sent again.
  EXPECT_GE(lossy.packets, 13'800 + lossy.lost);
  testing::Test::RecordProperty("mbit_per_s", static_cast<int>(160 / result.seconds));
}

TEST_F(TapNetwork, AStreamIsIntactDespiteLoss) { expect_intact_stream_despite_loss("4"); }
TEST_F(TapNetwork, AStreamOverIpv6IsIntactDespiteLoss) { expect_intact_stream_despite_loss("6"); }

// A sender that is told by marks to slow down keeps the queue short of the 500 kB that drop: 4 MB
// through 50 Mbit/s with marks from 30 kB on. Without them it would fill the queue.
void expect_marks_instead_of_drops(const std::string& ip_version) {
  const Network network("hosts = 2\nip_version = " + ip_version +
                        "\nrate = \"1Gbit\"\ndelay = \"200us\"\nqueue = \"500kB\"\n"
                        "[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\n"
                        "rate = \"50Mbit\"\necn = \"30kB\"");
  const Transfer result = transfer(network, 4'000'000);
  EXPECT_EQ(result.received, 4'000'000);
  EXPECT_EQ(result.wrong, 0);
  const fabric::PortCounters& port = network.port(3);
  EXPECT_GT(port.marked, 0);
  EXPECT_EQ(port.dropped, 0);
  // A receiver repeats the word of one mark until the sender answers (RFC 3168), so these are more.
  EXPECT_GE(result.told, port.marked);
}

TEST_F(TapNetwork, MarksReachTheSender) { expect_marks_instead_of_drops("4"); }
TEST_F(TapNetwork, MarksReachTheSenderOverIpv6) { expect_marks_instead_of_drops("6"); }

// Twice what the port carries is offered: half of it arrives, at 50 Mbit/s of frames (1514 bytes
// for 1472 of payload), the rest is dropped and counted. The queue of 80 ms keeps the line busy
// when the sender has to wait for a processor.
TEST_F(TapNetwork, APortCarriesItsRate) {
  const Network network(
      "hosts = 2\nrate = \"1Gbit\"\ndelay = \"100us\"\nqueue = \"500kB\"\n"
      "[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\nrate = \"50Mbit\"");
  const auto from = network.open(0, SOCK_DGRAM, 5000);
  const auto to = network.open(1, SOCK_DGRAM, 5000);
  network.connect(from, 1, 5000);
  network.connect(to, 0, 5000);
  ASSERT_TRUE(round_trip_s(from, to));
  constexpr int kDatagrams = 8000;  // 97 Mbit of frames
  const std::jthread sending([&] {
    const std::vector<char> data(1472);
    const auto begin = steady_clock::now();
    for (int i = 0; i < kDatagrams; ++i) {
      std::this_thread::sleep_until(begin + i / 8 * milliseconds(1));
      ::send(from.get(), data.data(), data.size(), 0);
    }
  });
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(to.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::vector<char> data(2000);
  std::vector<steady_clock::time_point> times;
  while (::recv(to.get(), data.data(), data.size(), 0) == 1472)
    times.push_back(steady_clock::now());
  ASSERT_GT(times.size(), 100);
  const double seconds = duration<double>(times.back() - times.front()).count();
  const double rate = static_cast<double>(times.size() - 1) * 1514 * 8 / seconds;
  measure::expect_carried(rate / 50e6);
  EXPECT_EQ(times.size() + network.port(3).dropped, kDatagrams);
  testing::Test::RecordProperty("kbit_per_s", static_cast<int>(rate / 1000));
}

/// Sends super-packets of 40 datagrams of 1000 bytes, filled with their number in the packet;
/// whether the kernel can.
bool send_super_packets(const os::FileDescriptor& from, int count, milliseconds pause) {
  const int size = 1000;
  if (::setsockopt(from.get(), IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size) != 0) return false;
  std::vector<std::uint8_t> data(40 * 1000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i / 1000);
  for (int i = 0; i < count; ++i) {
    if (::send(from.get(), data.data(), data.size(), 0) != 40'000) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

struct Received {
  std::uint64_t datagrams;
  std::uint64_t marked;
};

/// Takes what send_super_packets sent until nothing comes for 0.3 s.
Received receive_datagrams(const os::FileDescriptor& to) {
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(to.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  Received received{.datagrams = 0, .marked = 0};
  for (;;) {
    std::array<std::uint8_t, 2000> data = {};
    alignas(cmsghdr) std::array<std::uint8_t, 64> control = {};
    iovec part{.iov_base = data.data(), .iov_len = data.size()};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(to.get(), &message, 0) != 1000) return received;
    EXPECT_EQ(data[0], data[999]);
    EXPECT_LT(data[0], 40);
    ++received.datagrams;
    const cmsghdr* const service = CMSG_FIRSTHDR(&message);
    if (service != nullptr && (*CMSG_DATA(service) & 3) == 3) ++received.marked;
  }
}

// UDP too comes in super-packets where the kernel can: 200 of 40 datagrams, each lost on its own.
TEST_F(TapNetwork, DatagramsOfASuperPacketAreLostOneByOne) {
  const Network network(
      "hosts = 2\nrate = \"1Gbit\"\ndelay = \"100us\"\nqueue = \"10MB\"\n"
      "[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\nloss = \"5%\"");
  const auto from = network.open(0, SOCK_DGRAM, 5000);
  const auto to = network.open(1, SOCK_DGRAM, 5000);
  network.connect(from, 1, 5000);
  if (!send_super_packets(from, 200, milliseconds(1))) GTEST_SKIP() << "no UDP_SEGMENT here";
  const Received received = receive_datagrams(to);
  const fabric::PortCounters& lossy = network.port(3);
  EXPECT_EQ(received.datagrams + lossy.lost + lossy.dropped, 8000);
  EXPECT_NEAR(static_cast<double>(lossy.lost), 400, binomial_margin(8000, 0.05));
}

// 800 datagrams of 1042 bytes at once at a port of 50 Mbit/s: the first 96 find less than 100 kB.
TEST_F(TapNetwork, DatagramsOfASuperPacketAreMarkedOneByOne) {
  const Network network(
      "hosts = 2\nrate = \"1Gbit\"\ndelay = \"100us\"\nqueue = \"1MB\"\n"
      "[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\nrate = \"50Mbit\"\n"
      "ecn = \"100kB\"");
  const auto from = network.open(0, SOCK_DGRAM, 5000);
  const auto to = network.open(1, SOCK_DGRAM, 5000);
  const int allows_marks = 2;  // ECT(0)
  ::setsockopt(from.get(), IPPROTO_IP, IP_TOS, &allows_marks, sizeof allows_marks);
  network.connect(from, 1, 5000);
  network.connect(to, 0, 5000);
  // While it does not know its neighbour, a kernel holds 200 kB for it and drops the rest.
  ASSERT_TRUE(round_trip_s(from, to));
  const int on = 1;
  ::setsockopt(to.get(), IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
  if (!send_super_packets(from, 20, milliseconds(0))) GTEST_SKIP() << "no UDP_SEGMENT here";
  const Received received = receive_datagrams(to);
  EXPECT_EQ(received.datagrams, 800);
  EXPECT_EQ(received.marked, network.port(3).marked);
  EXPECT_GT(received.marked, 100);
  EXPECT_LE(received.marked, 800 - 96);
}

TEST_F(TapNetwork, ADeviceHasTheNameAndAddressAsked) {
  const os::FileDescriptor space = os::make_network_namespace();
  const network::Mac mac = {2, 0x77, 0, 0, 1, 9};
  const os::FileDescriptor tap = open_tap(space, "link7", mac);
  const os::InNetwork inside(space);
  const os::FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::strcpy(request.ifr_name, "link7");
  ASSERT_EQ(::ioctl(socket.get(), SIOCGIFHWADDR, &request), 0);
  EXPECT_EQ(std::memcmp(request.ifr_hwaddr.sa_data, mac.data(), 6), 0);
}

TEST_F(TapNetwork, ANameThatIsTakenIsAnError) {
  const os::FileDescriptor space = os::make_network_namespace();
  const os::FileDescriptor tap = open_tap(space, "eth0", {2, 0, 0, 0, 0, 1});
  EXPECT_THROW(open_tap(space, "eth0", {2, 0, 0, 0, 0, 2}), SystemError);
}

}  // namespace
}  // namespace tw::testbed
