// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/processes.h"
#include "trainwire/attach/sockets.h"
#include "trainwire/base/error.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tw::attach {
namespace {

using testing::Contains;
using testing::SizeIs;

TEST(Processes, DevicesAreReadFromProc) {
  const auto found = parse_devices(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo:  100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n"
      "  eth0: 2000 5 1 2 0 0 0 0 3000 7 10 20 0 0 0 0\n");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found.at("eth0"),
            (DeviceCounts{.received = 2000, .sent = 3000, .dropped = 22, .errors = 11}));
  EXPECT_THROW(family_of(0x7fffffff), SystemError);
}

TEST(Processes, PortsOfRdmaCardsAreReadFromSys) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / fmt::format("rdma-{}", ::getpid());
  const fs::path port = root / "mlx5_0" / "ports" / "1";
  fs::create_directories(port / "counters");
  fs::create_directories(port / "hw_counters");
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(port / name) << text << "\n";
  };
  write("counters/port_xmit_data", "250");
  write("counters/port_rcv_data", "500");
  write("counters/port_xmit_packets", "77");
  write("hw_counters/out_of_sequence", "3");
  write("rate", "400 Gb/sec (4X NDR)");
  EXPECT_EQ(rdma_ports(root).at("mlx5_0/1"), (DeviceCounts{.received = 2000, .sent = 1000}));
  const auto counters = rdma_counters(root);
  EXPECT_THAT(counters, SizeIs(2));
  EXPECT_EQ(counters.at("mlx5_0/1 out_of_sequence"), 3U);
  EXPECT_DOUBLE_EQ(rdma_rates(root).at("mlx5_0/1"), 400e9);
  EXPECT_TRUE(rdma_ports((root / "none").string()).empty());
  fs::remove_all(root);
}

TEST(Sockets, ConnectionsGoOverTheDeviceThatHasTheirAddress) {
  const std::map<std::string, std::string> devices{{"10.0.0.1", "eth0"}, {"127.0.0.1", "lo"}};
  const auto between = [](const char* local, const char* remote) {
    return Connection{.local = local, .remote = remote};
  };
  EXPECT_EQ(devices_of({between("10.0.0.1", "10.0.0.2")}, devices), std::set<std::string>{"eth0"});
  EXPECT_EQ(devices_of({between("10.0.0.1", "10.0.0.1")}, devices), std::set<std::string>{"lo"});
  EXPECT_EQ(devices_of({between("127.0.0.5", "127.0.0.6")}, devices), std::set<std::string>{"lo"});
  EXPECT_EQ(devices_by_address().at("127.0.0.1"), "lo");
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
  EXPECT_THAT(networks_of({::getpid()}), SizeIs(1));
  const auto owners = socket_owners({::getpid()});
  auto diagnosis = open_diagnosis(0);
  std::vector<std::uint64_t> sent;
  for (const Connection& each : connections(diagnosis)) {
    if (owners.contains(each.inode) && each.remote_port == ntohs(address.sin_port)) {
      EXPECT_EQ(each.remote, "127.0.0.1");
      sent.push_back(each.sent_bytes);
    }
  }
  EXPECT_THAT(sent, Contains(testing::AllOf(testing::Ge(5000U), testing::Le(5001U))));
  for (const int each : {client, server, listener}) ::close(each);
}

}  // namespace
}  // namespace tw::attach
