// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/tempo.h"

#include "trainwire/gather/hosts.h"
#include "trainwire/rhythm/pace.h"
#include "trainwire/rhythm/steps.h"
#include "trainwire/rhythm/test_jobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace tw::rhythm {
namespace {

struct Found {
  std::vector<Channel> channels;
  std::vector<Tempo> tempos;
};

Found tempos_of(const gather::Captured& traffic) {
  Found found{.channels = flow_channels(traffic, gather::host_table(traffic, {}).host_of),
              .tempos = {}};
  found.tempos = find_tempos(found.channels, traffic.burst_gap_ns);
  return found;
}

TEST(FindTempos, GivesAllSendersOfAJobOneTempo) {
  const Found found =
      tempos_of(play({.strategy = "halving_doubling", .placement = {0, 1, 2, 3, 4, 5, 6, 7}}));
  ASSERT_EQ(found.tempos.size(), 1);
  // 8 ranks with 3 partners each.
  EXPECT_EQ(found.tempos[0].members.size(), 24);
  EXPECT_NEAR(found.tempos[0].share, 1, 0.01);
}

/// Of three channels alike, in so many beats, some of which pause longer before than inside.
Pace pace_of(double period_ms, double bytes, double share, std::size_t beats, std::size_t longer) {
  const double ratio = longer == beats ? 8 : 0.2;
  const RhythmFit::Comparison pauses{.compared = beats, .dominant = longer, .ratio = ratio};
  Pace pace{.period_ns = period_ms * 1e6, .candidates = {}, .share = share};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    RhythmFit fit{.bytes = bytes, .beats = beats, .coverage = share, .period_ns = pace.period_ns};
    fit.busy = 0.5;
    fit.pauses = pauses;
    fit.quiet = pauses;
    pace.candidates.push_back({.channel = channel, .fit = fit});
  }
  return pace;
}

// Rounds, steps of ten behind a model that is sent first, and eleven rounds at a time, which find room
// for some of the model.
TEST(Choose, WhatCoversMoreByChanceDoesNotHideStepsThatPause) {
  std::vector<Pace> paces{pace_of(18, 500e3, 1, 150, 150), pace_of(187, 5e6, 0.97, 15, 15),
                          pace_of(200, 5.5e6, 0.985, 14, 1)};
  const std::optional<Pace> chosen = choose(paces, [](const Pace&, double) { return false; });
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->period_ns, 187e6);
}

TEST(FindTempos, KeepsTrafficAtAnotherPaceApart) {
  gather::Captured traffic = play({.strategy = "ring", .placement = {0, 1, 2, 3}, .steps = 20});
  flow::Flow other;
  other.key = {1, 3, 5000, 5001, 6};
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t start = 200'000'000 + i * 17'300'000;
    other.bursts.push_back(
        {.start_ns = start, .end_ns = start + 100'000, .bytes = 131'072, .packets = 90});
    other.payload_bytes += 131'072;
  }
  traffic.flows.push_back(other);
  const Found found = tempos_of(traffic);
  ASSERT_GE(found.tempos.size(), 2);
  EXPECT_EQ(found.tempos[0].members.size(), 4);
  EXPECT_EQ(found.tempos[0].members[0].beats.size(), 20);
  EXPECT_NEAR(found.tempos[1].period_ns, 17.3e6, 1e6);
}

// Six rounds of a step pause too, but not as long as the step.
TEST(OwnPace, IsThatOfSteps) {
  const gather::Captured traffic =
      play({.strategy = "ring", .placement = {0, 1, 2, 3}, .steps = 20, .latency_s = 1e-3});
  const std::vector<Channel> channels =
      flow_channels(traffic, gather::host_table(traffic, {}).host_of);
  ASSERT_FALSE(channels.empty());
  const std::optional<OwnPace> pace = own_pace(channels[0], traffic.burst_gap_ns);
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->beats, 20u);
  Channel steady = channels[0];
  steady.bursts.resize(1);
  EXPECT_FALSE(own_pace(steady, traffic.burst_gap_ns));
}

// 2,000 steps of 6 rounds, each with a pause: 12,000 bursts in each of four channels, of which only
// the middle is searched, but all are beats.
TEST(FindTempos, CountsAllStepsOfALongCapture) {
  const Found found = tempos_of(
      play({.strategy = "ring", .placement = {0, 1, 2, 3}, .steps = 2000, .latency_s = 1e-3}));
  ASSERT_FALSE(found.tempos.empty());
  EXPECT_EQ(found.tempos[0].members.size(), 4);
  for (const Member& member : found.tempos[0].members) {
    EXPECT_EQ(member.beats.size(), 2000);
    EXPECT_EQ(member.bytes, 6'000'000u);  // 2 * 3/4 of 4 MB
  }
}

// Whole collectives with a longer pause after every eighth: 8 of them are no step, though equal
// buckets of a step would look the same.
TEST(FindTempos, KeepsTheStepsOfEpochs) {
  for (const std::string strategy : {"ring", "star", "clique", "halving_doubling"}) {
    SCOPED_TRACE(strategy);
    const Found found = tempos_of(
        play({.strategy = strategy, .placement = {0, 1, 2, 3}, .steps = 32, .rest_every = 8}));
    ASSERT_FALSE(found.tempos.empty());
    EXPECT_EQ(found.tempos[0].members[0].beats.size(), 32);
    ASSERT_TRUE(found.tempos[0].alternative);
    EXPECT_TRUE(found.tempos[0].alternative->are_buckets);
    EXPECT_NEAR(1 / found.tempos[0].alternative->steps, 8, 4);
  }
}

// Two halves of a step, as sharded training has them: gradients are scattered, the optimizer takes
// 50 ms, the model is gathered. Each half is whole, but no epoch has two steps.
TEST(FindTempos, TakesTwoWholeHalvesForOneStep) {
  const Found found = tempos_of(play({.strategy = "ring",
                                      .placement = {0, 1, 2, 3},
                                      .steps = 40,
                                      .rest_every = 2,
                                      .rest_s = 0.15}));
  ASSERT_FALSE(found.tempos.empty());
  EXPECT_EQ(found.tempos[0].members[0].beats.size(), 20);
}

/// So many bytes, after so long a pause.
struct Piece {
  double pause_ms;
  std::uint64_t bytes;
};

/// What a host sends another in so many steps of these pieces, a megabyte in 2 ms.
Channel channel_of(int from, int to, const std::vector<Piece>& pieces, int steps) {
  Channel channel{
      .from = from, .to = to, .flows = {}, .bursts = {}, .bytes = 0, .beginning = Beginning::Seen};
  std::int64_t time_ns = 1'000'000'000;
  for (int step = 0; step < steps; ++step) {
    for (const Piece& piece : pieces) {
      const std::int64_t start =
          time_ns + static_cast<std::int64_t>(piece.pause_ms * 1e6) + 10'000 * ((step + from) % 3);
      time_ns = start + 2 * static_cast<std::int64_t>(piece.bytes);
      channel.bursts.push_back({start, time_ns, piece.bytes, 1});
      channel.bytes += piece.bytes;
    }
  }
  return channel;
}

/// Two hosts that send each other these pieces in every step.
std::vector<Channel> both_ways(const std::vector<Piece>& pieces, int steps) {
  return {channel_of(0, 1, pieces, steps), channel_of(1, 0, pieces, steps)};
}

// Two hosts of four are late in every other step, the others in those between.
TEST(FindTempos, TakesNoTwoStepsForOneWhereHostsTakeTurns) {
  const std::vector<Piece> even{{80, 2'000'000}, {60, 2'000'000}};
  const std::vector<Piece> odd{{60, 2'000'000}, {80, 2'000'000}};
  const auto steps_found = [](const std::vector<Channel>& channels) {
    const std::vector<Tempo> tempos = find_tempos(channels, 500'000);
    return tempos.empty() ? 0 : tempos[0].members[0].beats.size();
  };
  EXPECT_EQ(steps_found({channel_of(0, 1, even, 10), channel_of(1, 2, odd, 10),
                         channel_of(2, 3, even, 10), channel_of(3, 0, odd, 10)}),
            20u);
  EXPECT_EQ(steps_found({channel_of(0, 1, even, 10), channel_of(1, 2, even, 10),
                         channel_of(2, 3, even, 10), channel_of(3, 0, even, 10)}),
            10u);
}

// What is gathered at once on the way forwards is scattered piece by piece on the way back.
TEST(FindTempos, TakesTwoKindsOfBeatsThatAlternateForHalves) {
  const std::vector<Channel> channels =
      both_ways({{30, 9'000'000}, {31, 2'000'000}, {5, 2'000'000}, {5, 5'000'000}}, 10);
  const std::vector<Tempo> tempos = find_tempos(channels, 500'000);
  ASSERT_FALSE(tempos.empty());
  EXPECT_EQ(tempos[0].members[0].beats.size(), 10u);
}

// A head of three layers: what pauses after each layer does not pause inside the head.
TEST(FindTempos, TakesLayersForPartsOfAStepWithALargerPiece) {
  std::vector<Piece> pieces{{20, 3'000'000}};
  pieces.insert(pieces.end(), 6, {4, 1'000'000});
  pieces.insert(pieces.end(), 2, {4, 3'000'000});
  const std::vector<Channel> channels = both_ways(pieces, 10);
  const std::vector<Tempo> tempos = find_tempos(channels, 500'000);
  ASSERT_FALSE(tempos.empty());
  EXPECT_EQ(tempos[0].members[0].beats.size(), 10u);
}

// More senders than are searched; a ring of 40 sends 2 * 39/40 of the payload.
TEST(FindTempos, GivesManySendersOneTempo) {
  const Found found = tempos_of(play({.strategy = "ring", .placement = shuffled_hosts(40, 3)}));
  ASSERT_FALSE(found.tempos.empty());
  EXPECT_EQ(found.tempos[0].members.size(), 40);
  for (const Member& member : found.tempos[0].members) {
    EXPECT_EQ(member.beats.size(), 15);
    EXPECT_NEAR(static_cast<double>(member.bytes), 7.8e6, 1e4);
  }
}

TEST(FindTempos, FindsNoneInOneLongTransfer) {
  gather::Captured traffic{};
  traffic.addresses.resize(3);
  traffic.burst_gap_ns = 500'000;
  flow::Flow flow;
  flow.key = {1, 2, 10, 20, 6};
  flow.payload_bytes = 1'000'000'000;
  flow.bursts.push_back(
      {.start_ns = 0, .end_ns = 5'000'000'000, .bytes = 1'000'000'000, .packets = 700'000});
  traffic.flows.push_back(flow);
  EXPECT_TRUE(tempos_of(traffic).tempos.empty());
}

// A hundred days between two stretches are 10^8 periods, none of which holds a step.
TEST(Align, TakesNoMemoryForAPause) {
  const Found found = tempos_of(play({.strategy = "star", .placement = {0, 1, 2}, .steps = 12}));
  ASSERT_FALSE(found.tempos.empty());
  Tempo tempo = found.tempos[0];
  for (Member& member : tempo.members) {
    const std::vector<Beat> before = member.beats;
    for (Beat beat : before) {
      beat.start_ns += 100 * 86'400'000'000'000;
      beat.end_ns += 100 * 86'400'000'000'000;
      member.beats.push_back(beat);
    }
  }
  // One beat less, so that beats are numbered by time, not counted.
  tempo.members[0].beats.erase(tempo.members[0].beats.begin());
  const std::clock_t begin = std::clock();
  const Steps exchanges = align(std::move(tempo), found.channels);
  EXPECT_EQ(exchanges.steps.size(), 24);
  EXPECT_EQ(exchanges.lanes[0].beats.size(), 24);
  EXPECT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC);
}

TEST(Align, NumbersTheBeatsOfAllLanesAlike) {
  const gather::Captured traffic =
      play({.strategy = "star", .placement = {2, 0, 1, 3}, .steps = 12});
  const Found found = tempos_of(traffic);
  ASSERT_FALSE(found.tempos.empty());
  const Steps exchanges = align(found.tempos[0], found.channels);
  ASSERT_EQ(exchanges.steps.size(), 12);
  for (std::size_t step = 0; step < 12; ++step) {
    // 3 leaves up and down, 4 MB each.
    EXPECT_EQ(exchanges.steps[step].bytes, 24'000'000u);
    for (const Lane& lane : exchanges.lanes) {
      ASSERT_TRUE(lane.beats[step]);
      // Everybody goes up to host 2 before it sends anything down.
      if (lane.from != 2) continue;
      for (const Lane& up : exchanges.lanes) {
        if (up.to != 2) continue;
        EXPECT_LE(up.beats[step]->end_ns, lane.beats[step]->start_ns);
      }
    }
  }
}

// Two hosts with four beats each, which go on while the other has begun; one begins a whole step late.
TEST(Align, CountsTheBeatsOfLanesThatAreSeenFromBeginToEnd) {
  std::vector<Channel> channels;
  Tempo tempo{.period_ns = 100, .share = 1, .dominance = 1, .ratio = 2, .members = {}};
  for (const int lane : {0, 1}) {
    channels.push_back({.from = lane,
                        .to = 1 - lane,
                        .flows = {},
                        .bursts = {},
                        .bytes = 40,
                        .beginning = Beginning::Seen});
    Member& member = tempo.members.emplace_back(Member{channels.size() - 1, 10, {}});
    for (std::int64_t beat = 0; beat < 4; ++beat) {
      const std::int64_t start = 100 * beat + 92 * lane;
      member.beats.push_back({start, start + 96, 10, 0, 0, true});
    }
  }
  const Steps exchanges = align(tempo, channels);
  ASSERT_EQ(exchanges.steps.size(), 4u);
  EXPECT_EQ(exchanges.lanes[1].beats[0]->start_ns, 92);
  channels[1].bytes = 60;
  EXPECT_EQ(align(tempo, channels).steps.size(), 5u);
}

/// A sender by hand: what it sends, and how long it pauses before that, in MB and ms; 1 MB takes 0.1 ms.
class Sender {
 public:
  Sender(int from, int to)
      : channel_{.from = from, .to = to, .flows = {}, .bursts = {}, .bytes = 0} {
    channel_.beginning = Beginning::Seen;
  }
  void send(double pause_ms, double megabytes) {
    const std::int64_t start = at_ + std::llround(1e6 * pause_ms);
    at_ = start + std::llround(1e5 * megabytes);
    const auto bytes = static_cast<std::uint64_t>(std::llround(1e6 * megabytes));
    channel_.bursts.push_back({.start_ns = start, .end_ns = at_, .bytes = bytes, .packets = 100});
    channel_.bytes += bytes;
  }
  const Channel& channel() const { return channel_; }

 private:
  Channel channel_;
  std::int64_t at_ = 0;
};

// Of two ranks the first also sends the model, which is as large as a step, and begins with a small bucket: its mean step is longer by 9 %.
TEST(FindTempos, WhoStartsWithTheModelKeepsThePaceOfTheOther) {
  Sender first(0, 1);
  first.send(0, 30);
  first.send(275, 2);
  first.send(92, 28);
  Sender second(1, 0);
  second.send(375, 30);
  for (int step = 1; step < 12; ++step) {
    first.send(60, 30);
    second.send(60, 30);
  }
  const std::vector<Channel> channels{first.channel(), second.channel()};
  const std::vector<Tempo> tempos = find_tempos(channels, 500'000);
  ASSERT_FALSE(tempos.empty());
  ASSERT_EQ(tempos[0].members.size(), 2);
  EXPECT_EQ(tempos[0].members[0].bytes, 30'000'000u);
  EXPECT_EQ(tempos[0].members[1].beats.size(), 12);
}

// Twelve layers of 9 MB and 30 MB that are no layer, six times; pauses tell nothing of the step, but 138 MB hold everything.
TEST(FindTempos, LayersThatLeaveMuchOutAreNoSteps) {
  std::vector<Channel> channels;
  std::uint32_t random = 12345;
  for (int host = 0; host < 3; ++host) {
    Sender sender(host, host + 1);
    for (int step = 0; step < 6; ++step) {
      for (int part = 0; part < 13; ++part) {
        random = random * 1664525 + 1013904223;
        sender.send(3 + (random >> 24) % 7, part == 0 ? 30 : 9);
      }
    }
    channels.push_back(sender.channel());
  }
  const std::vector<Tempo> tempos = find_tempos(channels, 500'000);
  ASSERT_FALSE(tempos.empty());
  ASSERT_EQ(tempos[0].members.size(), 3);
  EXPECT_TRUE(tempos[0].is_exact);
  EXPECT_EQ(tempos[0].members[0].bytes, 138'000'000u);
  EXPECT_EQ(tempos[0].members[0].beats.size(), 6);
}

}  // namespace
}  // namespace tw::rhythm
