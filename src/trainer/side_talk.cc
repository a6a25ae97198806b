// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/side_talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace tw::trainer {
namespace {

using transport::tcp::Hello;
using transport::tcp::Moved;

/// One connection's two messages.
struct Talk {
  std::size_t sent = 0;
  std::size_t heard = 0;
  bool done() const { return sent == kSideBytes && heard == kSideBytes; }
};

}  // namespace

std::vector<Hello> side_connections(const workload::Training& training, int rank) {
  std::vector<Hello> all;
  std::map<int, int> lanes;
  for (const int peer : side_peers(training, rank)) {
    all.push_back({.rank = peer, .lane = kFirstSideLane + lanes[peer]++});
  }
  return all;
}

std::vector<Hello> idle_connections(int idle, int rank, int ranks) {
  std::vector<Hello> all;
  for (int other = 1; other < ranks; ++other) {
    if (rank != 0 && rank != other) continue;
    for (int i = 0; i < idle; ++i) {
      all.push_back({.rank = rank == 0 ? other : 0, .lane = kFirstIdleLane + i});
    }
  }
  return all;
}

SideTalk::SideTalk(std::span<const transport::tcp::Connection> connections, Duration patience,
                   std::function<void()> look)
    : connections_(connections),
      patience_(patience),
      look_(std::move(look)),
      counts_(connections.size()) {}

void SideTalk::talk() {
  std::vector<Talk> talks(connections_.size());
  transport::tcp::Patience patience(patience_);
  while (!std::all_of(talks.begin(), talks.end(), [](const Talk& t) { return t.done(); })) {
    std::vector<pollfd> waits;
    int silent = -1;
    for (std::size_t i = 0; i < talks.size(); ++i) {
      const int socket = connections_[i].socket.get();
      std::array<std::byte, kSideBytes> message = {};
      Talk& talk = talks[i];
      if (talk.sent < kSideBytes) {
        const Moved moved =
            transport::tcp::send_some(socket, std::span(message).subspan(talk.sent));
        talk.sent += moved.bytes;
        counts_[i].framing += static_cast<std::int64_t>(moved.bytes);
      }
      if (talk.heard < kSideBytes) {
        const Moved moved =
            transport::tcp::receive_some(socket, std::span(message).subspan(talk.heard));
        if (moved.closed || moved.error != 0) {
          throw PeerLost(fmt::format("rank {} closed the connection", connections_[i].peer));
        }
        talk.heard += moved.bytes;
      }
      if (talk.done()) continue;
      silent = connections_[i].peer;
      waits.push_back(
          {.fd = socket,
           .events = static_cast<short>(talk.sent < kSideBytes ? POLLIN | POLLOUT : POLLIN),
           .revents = 0});
    }
    if (look_) look_();
    if (waits.empty() || patience.wait(waits)) continue;
    throw PeerLost(fmt::format("nothing came from rank {} for {}", silent, readable(patience_)),
                   PeerLost::How::Silent);
  }
}

}  // namespace tw::trainer
