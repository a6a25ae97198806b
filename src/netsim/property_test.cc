// SPDX-License-Identifier: Apache-2.0
// What holds in every network: hundreds of small ones drawn at random.
#include "trainwire/base/random.h"
#include "trainwire/netsim/test_wire.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tw::netsim {
namespace {

struct Sent {
  int connection = 0;
  std::int64_t bytes = 0;
  std::uint64_t tag = 0;
};

constexpr int kPriorities = 3;

/// Ports, connections over them and messages, all from a seed. Every second net has priorities, lost
/// trains, early drops and packets that take several ways.
struct Drawn {
  explicit Drawn(std::uint64_t seed)
      : random(seed, "nets"), keys(seed, "keys"), is_plain(seed % 2 == 0), bed(ports(), seed) {
    const auto connections = 1 + random.below(5);
    for (std::uint64_t i = 0; i < connections; ++i) {
      const std::vector<int> there = path();
      const std::vector<int> back = path();
      const int made = bed.net.connect(there, back, options());
      if (!is_plain && keys.below(2) == 0) bed.net.spray(made, ways(there), ways(back));
    }
    const auto messages = 1 + random.below(12);
    for (std::uint64_t tag = 1; tag <= messages; ++tag) {
      const auto bytes = static_cast<std::int64_t>(1 + random.below(tag % 3 == 0 ? 400'000 : 4000));
      sent.push_back({static_cast<int>(random.below(connections)), bytes, tag});
    }
  }

  std::vector<PortSettings> ports() {
    std::vector<PortSettings> made;
    for (int i = 0; i < 5; ++i) {
      PortSettings port{.name = std::to_string(i)};
      port.rate = BitRate(1e6 * static_cast<double>(5 + random.below(2000)));
      port.delay = Duration(static_cast<std::int64_t>(random.below(3'000'000)));
      if (random.below(3) == 0) port.loss = 0.05 * random.uniform();
      if (random.below(4) == 0) port.loss_burst = 1 + 3 * random.uniform();
      if (random.below(4) == 0) port.jitter = port.delay / 4;
      if (random.below(2) == 0) port.queue_bytes = 6000 + 60'000 * random.uniform();
      if (random.below(4) == 0) port.marking = Marking{.from = 9000, .all = 30'000};
      if (!is_plain) {
        port.loses_trains = keys.below(2) == 0;
        if (port.marking) {
          port.marking->drops = keys.below(2) == 0;
          port.marking->newest = keys.below(2) == 0 ? 1 : 0.1;
        }
      }
      made.push_back(port);
    }
    return made;
  }
  /// As long as a path, and beginning with the same port.
  Sprayed ways(const std::vector<int>& path) {
    std::vector<std::vector<int>> all{path, path};
    for (std::size_t i = 1; i < path.size(); ++i) all[1][i] = static_cast<int>(keys.below(5));
    return std::make_shared<const std::vector<std::vector<int>>>(std::move(all));
  }
  std::vector<int> path() {
    std::vector<int> ports;
    for (std::uint64_t hops = 1 + random.below(3); hops > 0; --hops) {
      ports.push_back(static_cast<int>(random.below(5)));
    }
    return ports;
  }
  TcpOptions options() {
    constexpr std::array<const char*, 4> kControls = {"reno", "cubic", "dctcp", "bbr"};
    TcpOptions made;
    made.congestion_control = kControls[random.below(kControls.size())];
    made.marks = random.below(2) == 0;
    made.train_segments = random.below(2) == 0 ? 1 : 44;
    if (is_plain) return made;
    made.priority = static_cast<int>(keys.below(kPriorities));
    made.reordered = keys.below(2) == 0;
    return made;
  }

  /// Sends all, one after another with a pause; false: not all came.
  bool play() {
    Time now = 0;
    for (const Sent& message : sent) {
      bed.net.advance(now);
      bed.net.send(message.connection, message.bytes, message.bytes, message.tag, now);
      now += static_cast<Time>(random.below(20)) * kMillisecond;
    }
    const Time limit = 3'600'000 * kMillisecond;
    while (bed.net.next() < limit && bed.came.size() < sent.size()) {
      bed.net.advance(end = bed.net.next());
    }
    return bed.came.size() == sent.size();
  }

  Random random;
  Random keys;
  bool is_plain;
  Bed bed;
  std::vector<Sent> sent;
  Time end = 0;
};

constexpr std::uint64_t kNets = 200;

TEST(Nets, EveryMessageLeavesAndComesOnce) {
  for (std::uint64_t seed = 1; seed <= kNets; ++seed) {
    Drawn drawn(seed);
    ASSERT_TRUE(drawn.play()) << "net " << seed;
    ASSERT_EQ(drawn.bed.arrivals, static_cast<std::int64_t>(drawn.sent.size())) << "net " << seed;
    std::vector<std::int64_t> bytes(5);
    for (const Sent& message : drawn.sent) {
      ASSERT_EQ(drawn.bed.left[message.tag], 1) << "net " << seed;
      bytes[static_cast<std::size_t>(message.connection)] += message.bytes;
    }
    for (const Sent& message : drawn.sent) {
      ASSERT_EQ(drawn.bed.net.received(message.connection),
                bytes[static_cast<std::size_t>(message.connection)])
          << "net " << seed;
    }
  }
}

TEST(Nets, NoPortCarriesMoreThanItsRate) {
  for (std::uint64_t seed = 1; seed <= kNets; ++seed) {
    Drawn drawn(seed);
    drawn.play();
    for (int i = 0; i < 5; ++i) {
      const Port& port = drawn.bed.net.port(i);
      const double time = 8.0 * static_cast<double>(port.counts().wire_bytes) /
                          port.settings().rate.bits_per_second();
      const double waiting =
          8 * port.waiting_bytes(drawn.end) / port.settings().rate.bits_per_second();
      ASSERT_LE(time, seconds(drawn.end) + waiting + 1e-9) << "net " << seed << ", port " << i;
      if (!port.settings().queue_bytes) continue;
      // Each priority has a queue of its own, and what is on the line waits in none.
      const double queue = *port.settings().queue_bytes;
      ASSERT_LE(port.counts().deepest_bytes, port.holds() ? kPriorities * queue + 1514 : queue)
          << "net " << seed;
    }
  }
}

TEST(Nets, TheSameSeedIsTheSameToThePicosecond) {
  for (std::uint64_t seed = 1; seed <= kNets; seed += 4) {
    Drawn one(seed);
    Drawn two(seed);
    one.play();
    two.play();
    ASSERT_EQ(one.bed.came, two.bed.came) << "net " << seed;
    ASSERT_EQ(one.bed.net.hops(), two.bed.net.hops()) << "net " << seed;
  }
}

// Connections that do not do anything at the same instant do not care in which order they were made.
TEST(Nets, TheOrderOfConnectionsDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::array<std::array<Time, 2>, 2> came = {};
    for (const bool turned : {false, true}) {
      Random random(seed, "order");
      Bed bed({{.name = "a", .rate = 1_Gbit, .delay = std::chrono::microseconds(137)},
               {.name = "b", .rate = 2_Gbit, .delay = std::chrono::microseconds(211)},
               {.name = "shared",
                .rate = BitRate(3e8),
                .delay = std::chrono::microseconds(59),
                .queue_bytes = 40'000},
               {.name = "back", .rate = 10_Gbit, .delay = std::chrono::microseconds(83)}},
              seed);
      std::array<int, 2> numbers = {};
      for (const std::size_t i : {turned ? 1U : 0U, turned ? 0U : 1U}) {
        numbers[i] = bed.net.connect({static_cast<int>(i), 2}, {3}, {});
      }
      for (const std::size_t i : {0U, 1U}) {
        const auto bytes = static_cast<std::int64_t>(100'000 + random.below(400'000));
        const auto at = static_cast<Time>(1 + i) * 1'234'567;
        bed.net.advance(at);
        bed.net.send(numbers[i], bytes, bytes, i, at);
      }
      while (bed.came.size() < 2 && bed.net.next() != kNever) bed.net.advance(bed.net.next());
      came[turned ? 1 : 0] = {bed.came[0], bed.came[1]};
    }
    ASSERT_EQ(came[0], came[1]) << "net " << seed;
  }
}

}  // namespace
}  // namespace tw::netsim
