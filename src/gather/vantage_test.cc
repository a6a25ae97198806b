// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/vantage.h"

#include "trainwire/flow/test_ladders.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>

namespace tw::gather {
namespace {

constexpr std::int64_t kUs = 1'000;

/// Who captures, how its clock leads, and which packets it sees at which delay after their sending.
struct Place {
  std::int64_t lead_ns = 0;
  double drift = 0;
  std::function<std::optional<std::int64_t>(const packet::Packet&)> delay_ns;
};

/// The ladder as seen from a place; times are clocked there.
flow::View seen(const capture::LadderPackets& ladder, const Place& place) {
  std::multimap<std::int64_t, packet::Packet> by_time;
  const std::int64_t start = ladder.packets.front().time_ns;
  for (packet::Packet packet : ladder.packets) {
    const auto delay = place.delay_ns(packet);
    if (!delay.has_value()) continue;
    packet.time_ns += *delay;
    const double since = static_cast<double>(packet.time_ns - start);
    packet.time_ns += place.lead_ns + std::llround(place.drift * since);
    by_time.emplace(packet.time_ns, packet);
  }
  std::vector<packet::Packet> packets;
  for (const auto& [time_ns, packet] : by_time) packets.push_back(packet);
  flow::FlowTable table({.milestones = true});
  table.take(packets);
  return flow::view_of(table);
}

/// At host `letter`: its own packets when they are sent, those for it 30 us later, no others.
Place at_host(const capture::LadderPackets& ladder, char letter, std::int64_t lead_ns = 0) {
  const std::uint32_t self = ladder.host(letter);
  return {.lead_ns = lead_ns,
          .delay_ns = [self](const packet::Packet& packet) -> std::optional<std::int64_t> {
            if (packet.source == self) return 0;
            return packet.destination == self ? std::optional(30 * kUs) : std::nullopt;
          }};
}

/// A ring of three, a > b > c > a, `steps` times with acknowledgements.
std::string ring(int steps) {
  std::string text;
  for (int i = 0; i < steps; ++i) {
    for (const auto& [from, to] : {std::pair{'a', 'b'}, {'b', 'c'}, {'c', 'a'}}) {
      text += fmt::format("{:.4f} {}.1 > {}.2 {}:{} id {}\n", i * 0.01, from, to, 1000 * i + 1,
                          1000 * i + 1001, i + 1);
      text += fmt::format("{:.4f} {}.2 > {}.1 ack {} id {}\n", i * 0.01 + 0.0005, to, from,
                          1000 * i + 1001, i + 1);
    }
  }
  return text;
}

void expect_all_once(const flow::View& view, std::size_t packets) {
  EXPECT_EQ(view.totals.packets, packets);
  flow::expect_conservation(view);
  std::uint64_t counted = 0;
  for (const flow::PairCount& pair : view.pairs) counted += pair.packets;
  EXPECT_EQ(counted, packets);
}

TEST(Vantage, CountsEachPacketOfThreeHostsCapturesOnce) {
  for (const std::uint32_t isn : capture::kTryingIsns) {
    const auto ladder = capture::ladder_packets(ring(50), {.isn = isn, .reply_isn = ~isn});
    const Combined combined =
        combine({seen(ladder, at_host(ladder, 'a')), seen(ladder, at_host(ladder, 'b')),
                 seen(ladder, at_host(ladder, 'c'))});
    expect_all_once(combined.view, 300);
    ASSERT_EQ(combined.view.flows.size(), 6u);
    // Each is the sender's: its first data left at the ladder's first time, without the 30 us.
    for (const flow::Flow& flow : combined.view.flows) {
      if (flow.payload_bytes == 0) continue;
      EXPECT_EQ(flow.first_ns, ladder.packets.front().time_ns);
    }
  }
}

TEST(Vantage, KnowsWhoReceivesWhereTwoHostsAreAlone) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += fmt::format("{:.4f} a.1 > b.2 {}:{} id {}\n", i * 0.01, 1000 * i + 1, 1000 * i + 1001,
                        i + 1);
    text +=
        fmt::format("{:.4f} b.2 > a.1 ack {} id {}\n", i * 0.01 + 0.0005, 1000 * i + 1001, i + 1);
  }
  const auto ladder = capture::ladder_packets(text, {});
  const Combined combined =
      combine({seen(ladder, at_host(ladder, 'b')), seen(ladder, at_host(ladder, 'a'))});
  expect_all_once(combined.view, 100);
  for (const flow::Flow& flow : combined.view.flows) {
    if (flow.payload_bytes == 0) continue;
    EXPECT_EQ(flow.first_ns, ladder.packets.front().time_ns);
    EXPECT_EQ(flow.arrived.bytes(), flow.wire_bytes);
  }
}

TEST(Vantage, FindsTheClocksWithinTheirUncertainty) {
  // b's clock leads by 2 ms, c's lags by 7 s. 30 us each way leave an uncertainty of 30 us.
  for (const std::uint32_t isn : capture::kTryingIsns) {
    const auto ladder = capture::ladder_packets(ring(50), {.isn = isn, .reply_isn = ~isn});
    const Combined combined =
        combine({seen(ladder, at_host(ladder, 'a')), seen(ladder, at_host(ladder, 'b', 2'000'000)),
                 seen(ladder, at_host(ladder, 'c', -7'000'000'000))});
    expect_all_once(combined.view, 300);
    EXPECT_EQ(combined.clocks[0]->map.offset_ns, 0);
    EXPECT_EQ(combined.clocks[1]->map.offset_ns, 2'000'000);
    EXPECT_EQ(combined.clocks[1]->uncertainty_ns, 30 * kUs);
    EXPECT_EQ(combined.clocks[2]->map.offset_ns, -7'000'000'000);
    EXPECT_LT(combined.view.totals.last_ns - combined.view.totals.first_ns, 600'000'000);
  }
}

TEST(Vantage, ChainsClocksOverHostsThatShareNothing) {
  // a talks to b, b to c; a and c never meet. Uncertainties add up.
  const auto ladder = capture::ladder_packets(R"(
      0.00  a > b  1:1001
      0.01  b > a  ack 1001
      0.02  b.7 > c.7  1:1001
      0.03  c.7 > b.7  ack 1001
      0.04  b.7 > c.7  1001:2001
      0.05  a > b  1001:2001)");
  const Combined combined =
      combine({seen(ladder, at_host(ladder, 'a')), seen(ladder, at_host(ladder, 'b', 1'000'000)),
               seen(ladder, at_host(ladder, 'c', 5'000'000))});
  ASSERT_TRUE(combined.clocks[2].has_value());
  EXPECT_EQ(combined.clocks[2]->map.offset_ns, 5'000'000);
  EXPECT_EQ(combined.clocks[2]->uncertainty_ns, 60 * kUs);
  expect_all_once(combined.view, 6);
}

TEST(Vantage, SaysWhenAClockIsUnknown) {
  const auto ladder = capture::ladder_packets("0 a > b 1:101\n0.1 c > d 1:101\n0.2 d > c ack 101");
  const Combined combined =
      combine({seen(ladder, at_host(ladder, 'a')), seen(ladder, at_host(ladder, 'c'))});
  EXPECT_FALSE(combined.clocks[1].has_value());
  expect_all_once(combined.view, 3);
}

TEST(Vantage, FollowsADriftingClock) {
  // 200 ppm over 10 s are 2 ms, far more than the 30 us of the way.
  const auto ladder = capture::ladder_packets(ring(1000));
  Place drifting = at_host(ladder, 'b', 3'000'000);
  drifting.drift = 200e-6;
  const Combined combined = combine({seen(ladder, at_host(ladder, 'a')), seen(ladder, drifting)});
  ASSERT_TRUE(combined.clocks[1].has_value());
  EXPECT_NEAR(combined.clocks[1]->map.drift, 200e-6, 20e-6);
  EXPECT_NEAR(static_cast<double>(combined.clocks[1]->map.offset_ns), 3e6, 3e5);
  // b > c is known from b only: its last packet left at 9.99 s on a's clock.
  for (const flow::Flow& flow : combined.view.flows) {
    if (flow.key.source != ladder.host('b') || flow.key.destination != ladder.host('c')) continue;
    EXPECT_NEAR(static_cast<double>(flow.last_ns - ladder.packets.front().time_ns), 9.99e9, 3e5);
  }
}

TEST(Vantage, CountsTheSameCaptureGivenTwiceOnce) {
  const auto ladder = capture::ladder_packets(ring(20));
  const Place mirror{.delay_ns = [](const packet::Packet&) { return 0; }};
  const Combined combined = combine({seen(ladder, mirror), seen(ladder, mirror)});
  expect_all_once(combined.view, 120);
  EXPECT_EQ(combined.clocks[1]->map.offset_ns, 0);
  EXPECT_EQ(combined.clocks[1]->uncertainty_ns, 0);
}

TEST(Vantage, TakesNoClockFromConnectionsThatLookAlike) {
  // The same ports and sequence numbers again after a day: which is which nobody can tell.
  std::string text;
  for (const double start : {0.0, 86'400.0}) {
    text += fmt::format("{:.3f} a.1 > b.2 S\n{:.3f} b.2 > a.1 S ack 1\n", start, start + 0.001);
    text += fmt::format("{:.3f} a.1 > b.2 1:1001\n{:.3f} b.2 > a.1 ack 1001\n", start + 0.002,
                        start + 0.003);
  }
  const auto ladder = capture::ladder_packets(text);
  const Place mirror{.delay_ns = [](const packet::Packet&) { return 0; }};
  const Combined combined = combine({seen(ladder, mirror), seen(ladder, mirror)});
  expect_all_once(combined.view, 8);
  EXPECT_FALSE(combined.clocks[1].has_value());
}

TEST(Vantage, KeepsWhatOnlyAMirrorSaw) {
  // The mirror sees all three pairs, the host only its own two.
  const auto ladder = capture::ladder_packets(ring(20));
  const Place mirror{.delay_ns = [](const packet::Packet&) { return 15 * kUs; }};
  const Combined combined = combine({seen(ladder, at_host(ladder, 'a')), seen(ladder, mirror)});
  expect_all_once(combined.view, 120);
  EXPECT_EQ(combined.clocks[1]->uncertainty_ns, 15 * kUs);
}

TEST(Vantage, PrefersTheViewThatSawMore) {
  // The sender's capture dropped every third packet: the receiver's is more complete.
  const auto ladder = capture::ladder_packets(ring(30));
  Place lossy = at_host(ladder, 'a');
  lossy.delay_ns = [n = 0, whole = lossy.delay_ns](const packet::Packet& packet) mutable {
    return ++n % 3 == 0 ? std::nullopt : whole(packet);
  };
  const Combined combined = combine({seen(ladder, lossy), seen(ladder, at_host(ladder, 'b'))});
  for (const flow::Flow& flow : combined.view.flows) {
    if (flow.key.source == ladder.host('a') && flow.key.destination == ladder.host('b')) {
      EXPECT_EQ(flow.stream_bytes(), 30'000u);
    }
  }
}

TEST(Vantage, AddsFlowsFromOutsideTheOwnersTime) {
  // a's capture begins after 1 s; b saw a's earlier connection from port 8 alone.
  const auto ladder = capture::ladder_packets(R"(
      0.0  a.8 > b.9  1:101
      0.1  b.9 > a.8  ack 101
      2.0  a.1 > b.2  1:1001
      2.1  b.2 > a.1  ack 1001
      2.2  a.1 > c.2  1:1001
      2.3  b.2 > d.1  1:101)");
  Place late = at_host(ladder, 'a');
  const std::int64_t start = ladder.packets.front().time_ns + 1'000'000'000;
  late.delay_ns = [start, whole = late.delay_ns](const packet::Packet& packet) {
    return packet.time_ns < start ? std::nullopt : whole(packet);
  };
  expect_all_once(combine({seen(ladder, late), seen(ladder, at_host(ladder, 'b'))}).view, 6);
}

// Packets for a host are stamped 30 us after their sending: a clock estimate leaves that open, one
// clock does not.
TEST(Vantage, TakesTimesAsTheyAreOnOneClock) {
  const auto ladder = capture::ladder_packets(ring(20), {.isn = 1, .reply_isn = 2});
  const auto views = [&] {
    std::vector<flow::View> result;
    for (const char letter : {'a', 'b', 'c'})
      result.push_back(seen(ladder, at_host(ladder, letter)));
    return result;
  };
  EXPECT_GT(combine(views()).clocks[1]->uncertainty_ns, 0);
  const Combined combined = combine(views(), Clocks::Common);
  for (const auto& clock : combined.clocks) {
    ASSERT_TRUE(clock);
    EXPECT_EQ(clock->map.offset_ns, 0);
    EXPECT_EQ(clock->uncertainty_ns, 0);
  }
  EXPECT_EQ(combined.view.totals.first_ns, ladder.packets.front().time_ns);
}

}  // namespace
}  // namespace tw::gather
