// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/tcp/mesh.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <future>
#include <memory>

namespace tw::transport::tcp {
namespace {

using testing::HasSubstr;

/// Ranks as threads of this process, on one loopback address.
class Mesh : public testing::TestWithParam<std::string> {
 protected:
  void listen(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      listeners_.push_back(std::make_unique<Listener>(GetParam()));
      endpoints_.push_back(listeners_.back()->endpoint());
    }
  }

  Peering peering(int rank, int lanes) const {
    Peering result{.token = token_, .rank = rank, .endpoints = endpoints_, .lanes = lanes};
    for (int peer = 0; peer < static_cast<int>(endpoints_.size()); ++peer) {
      if (peer != rank) result.peers.push_back(peer);
    }
    return result;
  }

  std::vector<std::vector<Connection>> connect(int lanes) {
    std::vector<std::future<std::vector<Connection>>> futures;
    for (int rank = 0; rank < static_cast<int>(endpoints_.size()); ++rank) {
      futures.push_back(std::async(std::launch::async, [this, rank, lanes] {
        return connect_all(*listeners_[static_cast<std::size_t>(rank)], peering(rank, lanes));
      }));
    }
    std::vector<std::vector<Connection>> all;
    for (auto& future : futures) all.push_back(future.get());
    return all;
  }

  Token token_ = make_token();
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<Endpoint> endpoints_;
};

/// Waits for it.
std::byte receive_byte(const Connection& connection) {
  std::array<std::byte, 1> byte = {};
  while (receive_some(connection.socket.get(), byte).blocked) ::usleep(100);
  return byte[0];
}

TEST_P(Mesh, JoinsEveryPairByEveryLane) {
  listen(5);
  const auto all = connect(2);
  for (int rank = 0; rank < 5; ++rank) {
    const auto& mine = all[static_cast<std::size_t>(rank)];
    ASSERT_EQ(mine.size(), 8u);  // 4 peers, 2 lanes
    for (const Connection& connection : mine) {
      const std::byte word{static_cast<unsigned char>(16 * rank + connection.lane)};
      EXPECT_EQ(send_some(connection.socket.get(), std::span(&word, 1)).bytes, 1u);
    }
  }
  for (const auto& mine : all) {
    for (const Connection& connection : mine) {
      EXPECT_EQ(std::to_integer<int>(receive_byte(connection)),
                16 * connection.peer + connection.lane);
    }
  }
}

TEST_P(Mesh, LetsNoStrangerIn) {
  listen(2);
  const os::FileDescriptor silent = begin_connect(endpoints_[0], GetParam());
  const os::FileDescriptor liar = begin_connect(endpoints_[0], GetParam());
  const HelloBytes lie = encode({.rank = 1, .lane = 0}, make_token());
  ::usleep(20'000);
  EXPECT_EQ(send_some(liar.get(), lie).bytes, kHelloBytes);
  const auto all = connect(1);
  EXPECT_EQ(all[0].size(), 1u);
  EXPECT_EQ(all[0][0].peer, 1);
  std::array<std::byte, 1> byte = {};
  Moved moved = receive_some(liar.get(), byte);
  for (int i = 0; i < 1000 && moved.blocked; ++i) {
    ::usleep(1000);
    moved = receive_some(liar.get(), byte);
  }
  EXPECT_TRUE(moved.closed || moved.error != 0);
}

TEST_P(Mesh, NamesWhoDidNotCome) {
  listen(2);
  Peering lonely = peering(0, 1);
  lonely.patience = std::chrono::milliseconds(50);
  try {
    connect_all(*listeners_[0], lonely);
    FAIL() << "nobody can have come";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1 could not be reached within 50 ms"));
  }
}

TEST_P(Mesh, OfOneRankIsEmpty) {
  listen(1);
  EXPECT_TRUE(connect(1)[0].empty());
}

INSTANTIATE_TEST_SUITE_P(On, Mesh, testing::Values("127.0.0.1", "::1"), [](const auto& tested) {
  return tested.param == "::1" ? std::string("IPv6") : std::string("IPv4");
});

}  // namespace
}  // namespace tw::transport::tcp
