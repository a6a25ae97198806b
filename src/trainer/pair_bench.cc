// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/pair_bench.h"

#include "trainwire/os/clock.h"
#include "trainwire/workload/pair_rounds.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace tw::trainer {
namespace {

using transport::tcp::Moved;

/// A stream comes in blocks, the first byte of which says whether another one follows.
constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr std::byte kMore{1};
constexpr std::byte kLast{0};
constexpr std::size_t kPing = 8;

/// One pair, seen from one of both.
class Talk {
 public:
  Talk(const PairBench& how, const transport::tcp::Connection& connection, Duration patience)
      : how_(how),
        peer_(connection.peer),
        socket_(connection.socket.get()),
        patience_time_(patience),
        patience_(patience) {}

  /// The one that asks hears of the time; the first answer waits until the other one is there.
  std::int64_t ask() {
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::array<std::byte, kPing> ping = {};
    for (int i = 0; i <= how_.pings; ++i) {
      const std::int64_t begin = os::monotonic_ns();
      send(ping);
      receive(ping);
      if (i > 0) best = std::min(best, os::monotonic_ns() - begin);
    }
    return best;
  }

  void answer() {
    std::array<std::byte, kPing> ping = {};
    for (int i = 0; i <= how_.pings; ++i) {
      receive(ping);
      send(ping);
    }
  }

  /// Until the other one has seen enough.
  void stream() {
    std::vector<std::byte> block(kBlock, kMore);
    std::array<std::byte, 1> stop = {};
    for (std::size_t at = 0;;) {
      if (at == 0 && moved(transport::tcp::receive_some(socket_, stop)) > 0) break;
      const std::size_t sent =
          moved(transport::tcp::send_some(socket_, std::span(block).subspan(at)));
      at = (at + sent) % kBlock;
      if (sent == 0) wait(POLLOUT);
    }
    block.front() = kLast;
    send(block);
  }

  void hear(PairResult& result) {
    std::vector<std::byte> room(4 * kBlock);
    std::size_t at = 0;  // in a block
    std::int64_t first_ns = 0;
    std::int64_t begin_ns = 0;
    std::int64_t bytes = 0;
    bool enough = false;
    for (bool last = false; !last;) {
      const std::size_t most = enough ? kBlock - at : room.size();
      const std::size_t count =
          moved(transport::tcp::receive_some(socket_, std::span(room).first(most)));
      if (count == 0) {
        wait(POLLIN);
        continue;
      }
      const std::int64_t now = os::monotonic_ns();
      if (first_ns == 0) first_ns = now;
      if (begin_ns != 0) bytes += static_cast<std::int64_t>(count);
      if (begin_ns == 0 && now - first_ns >= how_.time_ns / 4) begin_ns = now;
      if (!enough && begin_ns != 0 && bytes > 0 && now - first_ns >= how_.time_ns) {
        enough = true;
        result.received_bytes = bytes;
        result.time_ns = now - begin_ns;
        send(std::array{kMore});
      }
      for (std::size_t i = (kBlock - at) % kBlock; i < count && enough; i += kBlock) {
        ending_ = ending_ || room[i] == kLast;
      }
      at = (at + count) % kBlock;
      last = ending_ && at == 0;
    }
  }

 private:
  std::size_t moved(const Moved& moved) {
    if (moved.closed || moved.error != 0) {
      throw PeerLost(fmt::format(
          "rank {} {}", peer_,
          moved.closed ? "closed the connection"
                       : fmt::format("cannot be reached: {}", std::strerror(moved.error))));
    }
    if (moved.bytes > 0) patience_.restart();
    return moved.bytes;
  }

  void wait(short events) {
    pollfd waited{.fd = socket_, .events = events, .revents = 0};
    if (patience_.wait(std::span(&waited, 1))) return;
    throw PeerLost(fmt::format("nothing moved between this rank and rank {} for {}", peer_,
                               readable(patience_time_)),
                   PeerLost::How::Silent);
  }

  void send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t count = moved(transport::tcp::send_some(socket_, bytes));
      bytes = bytes.subspan(count);
      if (count == 0) wait(POLLOUT);
    }
  }

  void receive(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t count = moved(transport::tcp::receive_some(socket_, bytes));
      bytes = bytes.subspan(count);
      if (count == 0) wait(POLLIN);
    }
  }

  const PairBench& how_;
  int peer_;
  int socket_;
  Duration patience_time_;
  transport::tcp::Patience patience_;
  bool ending_ = false;
};

PairResult measured(const Task& task, const transport::tcp::Connection& connection) {
  const int socket = connection.socket.get();
  const std::int64_t before = transport::tcp::tcp_state(socket).retransmitted_packets;
  Talk talk(*task.pairs, connection, task.patience);
  PairResult result{.peer = connection.peer};
  if (task.rank < connection.peer) {
    result.round_trip_ns = talk.ask();
    talk.stream();
    talk.hear(result);
  } else {
    talk.answer();
    talk.hear(result);
    talk.stream();
  }
  result.retransmitted = transport::tcp::tcp_state(socket).retransmitted_packets - before;
  return result;
}

}  // namespace

LoopResult run_pairs(const Task& task, const RankConnections& connections, const LoopHooks& hooks) {
  LoopResult result;
  result.counts.resize(connections.gradient.size());
  const auto rounds = workload::pair_rounds(task.training.ranks());
  std::int64_t step = 0;
  for (int repeat = 0; repeat < task.pairs->repeats; ++repeat) {
    for (const auto& round : rounds) {
      if (hooks.told) hooks.told(step++);
      for (const auto& [a, b] : round) {
        if (a != task.rank && b != task.rank) continue;
        const int peer = a == task.rank ? b : a;
        const auto with =
            std::ranges::find(connections.gradient, peer, &transport::tcp::Connection::peer);
        check(with != connections.gradient.end(), "every rank has a connection with every other");
        result.pairs.push_back(measured(task, *with));
      }
    }
  }
  hooks.leave();
  return result;
}

}  // namespace tw::trainer
