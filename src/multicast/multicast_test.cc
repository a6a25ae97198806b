// SPDX-License-Identifier: Apache-2.0
// Groups on the loopback device: real sockets, one process.
#include "trainwire/multicast/multicast.h"

#include "trainwire/base/random.h"
#include "trainwire/multicast/address.h"
#include "trainwire/multicast/socket.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

namespace tw::multicast {
namespace {

struct Stream {
  os::FileDescriptor near;
  os::FileDescriptor far;
};

Stream stream() {
  std::array<int, 2> ends = {};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  // A test that would hang fails instead.
  const timeval patience{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return {os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

/// One hub and its members, each with addresses and threads of its own as ranks have them.
struct Group {
  explicit Group(int members, Options options = {}) {
    // Tests that go on at the same time do not hear one another.
    static const std::uint64_t secret = reinterpret_cast<std::uintptr_t>(&options);
    options.secret = secret;
    for (int place = 0; place < members; ++place) {
      options.address = fmt::format("127.0.3.{}", place + 2);
      ends.push_back(join(options, {.group = 7, .members = members, .place = place}));
    }
    options.address = "127.0.3.1";
    hub = join(options, {.group = 7, .members = members});
  }

  os::FileDescriptor join(const Options& options, Seat seat) {
    Stream made = stream();
    seat.stream = std::move(made.far);
    std::vector<Seat> seats;
    seats.push_back(std::move(seat));
    ranks.push_back(std::make_unique<Multicast>(options, std::move(seats)));
    return std::move(made.near);
  }

  Count stopped(std::size_t rank) {
    ranks[rank]->stop();
    return ranks[rank]->counts().front();
  }

  std::vector<os::FileDescriptor> ends;  ///< of members
  os::FileDescriptor hub;
  std::vector<std::unique_ptr<Multicast>> ranks;  ///< members, then the hub
};

std::vector<std::byte> noise(std::size_t bytes) {
  Random random(1, "noise");
  std::vector<std::byte> made(bytes);
  for (std::byte& byte : made) byte = static_cast<std::byte>(random.next());
  return made;
}

std::vector<std::byte> read(const os::FileDescriptor& from, std::size_t bytes) {
  std::vector<std::byte> got(bytes);
  std::size_t have = 0;
  while (have < bytes) {
    const auto more = os::read_some(from, std::span(got).subspan(have));
    if (more <= 0) break;
    have += static_cast<std::size_t>(more);
  }
  got.resize(have);
  return got;
}

/// Everybody has exactly what the hub wrote.
void expect_heard(Group& group, const std::vector<std::byte>& told) {
  std::thread hub([&] { os::write_all(group.hub, told, "the hub's stream"); });
  std::vector<std::thread> readers;
  std::vector<int> same(group.ends.size());
  for (std::size_t i = 0; i < same.size(); ++i) {
    readers.emplace_back([&, i] { same[i] = read(group.ends[i], told.size()) == told ? 1 : 0; });
  }
  hub.join();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(std::ranges::count(same, 1), std::ssize(same));
}

TEST(Multicast, BringsTheHubsBytesToEveryMember) {
  Group group(3);
  expect_heard(group, noise(3'000'000));
  const Count hub = group.stopped(3);
  // Each packet of 1,448 bytes at least once, whatever the number of members, with its header.
  EXPECT_GE(hub.packets, (3'000'000 + 1447) / 1448);
  EXPECT_LE(hub.packets, 2 * 3'000'000 / 1448);
  EXPECT_GE(hub.datagram_bytes, 3'000'000 + hub.packets * std::int64_t{kHeaderBytes});
  EXPECT_GT(group.stopped(0).datagram_bytes, 0) << "members answer";
}

TEST(Multicast, OneByteAfterAnother) {
  Group group(2, {.window = 1});
  for (int i = 0; i < 5; ++i) expect_heard(group, noise(1));
}

TEST(Multicast, WhatStrangersSendIsNothing) {
  Group group(2);
  const os::FileDescriptor stranger = open_hub("127.0.3.99", 8);
  const auto to = socket_address(group_endpoint("127.0.3.99", 0, 7));
  std::vector<std::byte> forged(100, std::byte{1});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(send_to(stranger, to, forged), Sent::Yes);
    expect_heard(group, noise(4000));
  }
}

// Whatever the kernel drops is sent again; on links that lose packets, tests/run_multicast.py.
TEST(Multicast, AWindowBeyondWhatSocketsHoldLosesNothing) {
  Group group(2, {.window = 1 << 16});
  expect_heard(group, noise(20'000'000));
}

}  // namespace
}  // namespace tw::multicast
