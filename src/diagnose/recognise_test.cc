// SPDX-License-Identifier: Apache-2.0
// Strategies that time tells apart, where the bytes between hosts are the same.

#include "trainwire/recognise/recognise.h"

#include "trainwire/base/random.h"
#include "trainwire/diagnose/analysis.h"
#include "trainwire/gather/test_messages.h"
#include "trainwire/rhythm/test_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace tw::diagnose {
namespace {

constexpr int kSteps = 15;
constexpr double kStepMs = 100;

/// The messages of one step, again and again.
gather::Captured repeated(
    const std::function<std::vector<gather::Message>(int step)>& messages_of) {
  std::vector<gather::Message> messages;
  for (int step = 0; step < kSteps; ++step) {
    for (gather::Message message : messages_of(step)) {
      message.at_ms += 100 + kStepMs * step;
      messages.push_back(message);
    }
  }
  return gather::traffic_of(std::move(messages));
}

std::string strategy_of(const gather::Captured& traffic) {
  const Analysis found = analyse(traffic);
  return found.collectives.empty() ? "none" : found.collectives[0].strategy;
}

// What an edge carries of eight ranks on four hosts, 2 * 7 / 8 payloads, is 2 * 3 / 4 of 7 / 6 as much.
TEST(Recognise, RanksThatAreToldGoBeforeThoseThatPausesShow) {
  const gather::Captured traffic =
      rhythm::play({.strategy = "ring", .placement = {0, 0, 1, 1, 2, 2, 3, 3}, .steps = 12});
  const Analysis guessed = analyse(traffic);
  const Analysis told = analyse(traffic, {.ranks = 4});
  const auto bytes = static_cast<double>(*guessed.model_bytes);
  EXPECT_NEAR(static_cast<double>(*told.model_bytes), bytes * 7 / 6, 1);
  EXPECT_FALSE(told.collectives[0].runner_up);
  EXPECT_THAT(told.collectives[0].evidence, testing::HasSubstr("but files tell of 4 ranks in all"));
  // Seven ranks do not go over four hosts evenly.
  EXPECT_EQ(analyse(traffic, {.ranks = 7}).model_bytes, guessed.model_bytes);
  EXPECT_EQ(analyse(traffic, {.ranks = 8}).collectives[0].evidence,
            guessed.collectives[0].evidence);
}

/// Three leaves send a megabyte to host 0, which sends it back.
std::vector<gather::Message> star() {
  std::vector<gather::Message> messages;
  for (int leaf = 1; leaf <= 3; ++leaf) {
    messages.push_back({1.0 * leaf, leaf, 0, 1'000'000});
    messages.push_back({20.0 + leaf, 0, leaf, 1'000'000});
  }
  return messages;
}

// Rounds of eight ranks on four hosts; ranks that share one address are told apart by ports, so that none has others on it.
TEST(Recognise, ARankHasNoOthersOnIt) {
  gather::Captured traffic =
      rhythm::play({.strategy = "ring", .placement = {0, 0, 1, 1, 2, 2, 3, 3}, .steps = 12});
  const auto evidence = [&] { return analyse(traffic).collectives.at(0).evidence; };
  EXPECT_THAT(evidence(), testing::HasSubstr("2 ranks on each host"));
  for (std::size_t i = 1; i < traffic.addresses.size(); ++i) {
    traffic.addresses[i].bytes = {0xfd, 0x74, 0x77, 0x70, 0, static_cast<std::uint8_t>(i), 4};
  }
  EXPECT_THAT(evidence(), testing::Not(testing::HasSubstr("ranks on each host")));
}

// All ends of rounds of two buckets, of 500 and 200 kB around five hosts, are ends of 28 rounds too, as
// three ranks on each host make.
TEST(Recognise, TwoBucketsOfARingAreNoMoreRanks) {
  const auto rounds = [](int) {
    std::vector<gather::Message> messages;
    for (int round = 0; round < 16; ++round) {
      for (int host = 0; host < 5; ++host) {
        messages.push_back({1.0 + 3 * round, host, (host + 1) % 5, round < 8 ? 100'000U : 40'000U});
      }
    }
    return messages;
  };
  const Analysis found = analyse(repeated(rounds));
  ASSERT_EQ(found.collectives.size(), 1U);
  EXPECT_EQ(found.collectives[0].strategy, "ring");
  EXPECT_NEAR(static_cast<double>(*found.model_bytes), 700'000, 1);
}

// The same of three buckets, of half, three tenths and a fifth of two megabytes around four hosts, in the middles of 30 rounds.
TEST(Recognise, ThreeBucketsOfARingAreNoMoreRanks) {
  const auto rounds = [](int) {
    std::vector<gather::Message> messages;
    for (int round = 0; round < 18; ++round) {
      const std::uint64_t bytes = round < 6 ? 250'000 : round < 12 ? 150'000 : 100'000;
      for (int host = 0; host < 4; ++host) {
        messages.push_back({1.0 + 3 * round, host, (host + 1) % 4, bytes});
      }
    }
    return messages;
  };
  const Analysis found = analyse(repeated(rounds));
  ASSERT_EQ(found.collectives.size(), 1U);
  EXPECT_EQ(found.collectives[0].strategy, "ring");
  EXPECT_NEAR(static_cast<double>(*found.model_bytes), 2'000'000, 1);
}

// What is sent to three at once comes in pieces, with pauses anywhere, and now and then at the half.
TEST(Recognise, PausesAnywhereAreNoWaitingForHalves) {
  Random random(3, "pieces");
  const auto pieces = [&](int) {
    std::vector<gather::Message> messages;
    for (int from = 0; from < 4; ++from) {
      for (int to = 0; to < 4; ++to) {
        double at_ms = 0;
        for (std::uint64_t left = from == to ? 0 : 500'000, piece = 0; left > 0; left -= piece) {
          piece = std::min<std::uint64_t>(left, 2'000 * (1 + random.below(30)));
          messages.push_back({at_ms, from, to, piece, 1});
          at_ms += 1.7 + 3 * random.uniform();
        }
      }
    }
    return messages;
  };
  const Analysis found = analyse(repeated(pieces));
  ASSERT_EQ(found.collectives.size(), 1U);
  EXPECT_EQ(found.collectives[0].operation, "all_to_all");
}

TEST(Recognise, ALeafThatAsksBeforeItGetsIsAWorker) {
  std::vector<gather::Message> asking = star();
  for (int leaf = 1; leaf <= 3; ++leaf) {
    asking.push_back({15.0 + leaf, leaf, 0, 60, 0});
    asking.push_back({4.0 + leaf, 0, leaf, 30, 0});  // leave to send more, both ways
    asking.push_back({23.0 + leaf, leaf, 0, 30, 0});
  }
  EXPECT_EQ(strategy_of(repeated([&](int) { return star(); })), "star");
  EXPECT_EQ(strategy_of(repeated([&](int) { return asking; })), "ps");
}

// Both sides call for large messages, as MPI does: nobody is a server.
TEST(Recognise, CallsOfBothSidesMakeNoServer) {
  std::vector<gather::Message> calling = star();
  for (int leaf = 1; leaf <= 3; ++leaf) {
    calling.push_back({19.0 + leaf, leaf, 0, 60, 0});
    calling.push_back({-1.0 + leaf, 0, leaf, 60, 0});
  }
  EXPECT_EQ(strategy_of(repeated([&](int) { return calling; })), "star");
}

// Host 0 sends leaf 1 its answer 10 ms before leaf 3 sends anything: it cannot hold the sum.
TEST(Recognise, AnAnswerBeforeTheOthersHaveSentIsAServers) {
  const gather::Captured traffic = repeated([](int) {
    return std::vector<gather::Message>{{0, 1, 0, 1'000'000},  {5, 0, 1, 1'000'000},
                                        {8, 2, 0, 1'000'000},  {12, 0, 2, 1'000'000},
                                        {15, 3, 0, 1'000'000}, {20, 0, 3, 1'000'000}};
  });
  EXPECT_EQ(strategy_of(traffic), "ps");
}

/// A ring of hosts and the same backwards, with half of the payload each.
gather::Captured both_ways(std::vector<int> ring, std::int64_t payload) {
  rhythm::PlayedJob job{.strategy = "ring", .placement = ring, .payload = payload / 2};
  gather::Captured traffic = rhythm::play(job);
  std::reverse(job.placement.begin(), job.placement.end());
  for (flow::Flow& flow : rhythm::play(job).flows) traffic.flows.push_back(std::move(flow));
  return traffic;
}

TEST(Recognise, TwoRingsInOppositeDirectionsShareThePayload) {
  for (const int hosts : {4, 5, 6}) {
    SCOPED_TRACE(hosts);
    std::vector<int> ring;
    for (int host = 0; host < hosts; ++host) ring.push_back(host);
    const Analysis found = analyse(both_ways(ring, 6'000'000));
    ASSERT_FALSE(found.collectives.empty());
    EXPECT_EQ(found.collectives[0].strategy, "ring");
    EXPECT_EQ(found.collectives[0].order[1], rhythm::host_name(1));
    EXPECT_EQ(found.iterations.steps.size(), 15u);
    EXPECT_NEAR(static_cast<double>(*found.model_bytes), 6e6, 6e4);
  }
}

// The same bytes between the same hosts, the second partner's after the first one's.
TEST(Recognise, PartnersInTurnAreRecursiveDoubling) {
  const gather::Captured traffic = repeated([](int) {
    std::vector<gather::Message> messages;
    for (int host = 0; host < 4; ++host) {
      messages.push_back({0.1 * host, host, host ^ 1, 1'000'000});
      messages.push_back({5 + 0.1 * host, host, host ^ 2, 1'000'000});
    }
    return messages;
  });
  EXPECT_EQ(strategy_of(traffic), "recursive_doubling");
}

// Hosts 0 and 2 send halves to hosts 1 and 3, who send them back when they have both.
TEST(Recognise, TwoServersOfTwoWorkersAreNoRings) {
  const gather::Captured traffic = repeated([](int) {
    std::vector<gather::Message> messages;
    for (const int worker : {0, 2}) {
      for (const int server : {1, 3}) {
        messages.push_back({1.0 * worker, worker, server, 1'000'000});
        messages.push_back({10.0 + worker, server, worker, 1'000'000});
      }
    }
    return messages;
  });
  const Analysis found = analyse(traffic);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "ps");
  EXPECT_EQ(found.model_bytes, 2'000'000u);
  EXPECT_EQ(found.hosts[1].role, gather::Role::Server);
}

// Four hosts in a circle send both neighbours something, each when it is ready: host 0 is done
// before host 3 begins. Nothing is summed.
TEST(Recognise, NeighboursThatDoNotWaitAreNoRing) {
  for (const std::uint64_t back : {1'000'000, 500'000}) {
    const gather::Captured traffic = repeated([&](int) {
      std::vector<gather::Message> messages;
      for (int host = 0; host < 4; ++host) {
        messages.push_back({10.0 * host, host, (host + 1) % 4, 1'000'000});
        messages.push_back({10.0 * host, host, (host + 3) % 4, back});
      }
      return messages;
    });
    EXPECT_EQ(strategy_of(traffic), "none") << back;
  }
}

TEST(Recognise, ABroadcastInEveryStepGoesDownATree) {
  const gather::Captured traffic = repeated([](int) {
    return std::vector<gather::Message>{
        {0, 0, 1, 1'000'000}, {3, 0, 2, 1'000'000}, {6, 1, 3, 1'000'000}};
  });
  const Analysis found = analyse(traffic);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].operation, "step_broadcast");
  EXPECT_EQ(found.collectives[0].order.front(), "10.0.0.1");
  EXPECT_EQ(found.model_bytes, 1'000'000u);
}

// A server that copies to all, copies along a line, and a client whose server copies.
TEST(Recognise, CopiesAreNoBroadcast) {
  const std::vector<std::vector<std::pair<int, int>>> shapes{
      {{0, 1}, {0, 2}, {0, 3}}, {{0, 1}, {1, 2}, {2, 3}}, {{0, 1}, {1, 2}, {1, 3}}};
  for (const auto& edges : shapes) {
    const gather::Captured traffic = repeated([&](int) {
      std::vector<gather::Message> messages;
      for (const auto& [from, to] : edges) {
        messages.push_back({3.0 * static_cast<double>(messages.size()), from, to, 1'000'000});
      }
      return messages;
    });
    EXPECT_EQ(strategy_of(traffic), "none");
  }
}

// Forwards along four stages, and back.
TEST(Recognise, AlongALineNothingIsReduced) {
  const gather::Captured traffic = repeated([](int) {
    std::vector<gather::Message> messages;
    for (int stage = 0; stage < 3; ++stage) {
      messages.push_back({5.0 * stage, stage, stage + 1, 1'000'000});
      messages.push_back({40 - 5.0 * stage, stage + 1, stage, 1'000'000});
    }
    return messages;
  });
  EXPECT_EQ(strategy_of(traffic), "none");
}

// Host 2, a leaf under 0, sends 30 ms before hosts 3 and 4, which are leaves under 1: more than
// half a step before most of what belongs to its step.
TEST(Recognise, ATreeHasTheRootThatEverybodyReachesFirst) {
  const gather::Captured traffic = repeated([](int) {
    return std::vector<gather::Message>{
        {30, 3, 1, 1'000'000}, {31, 4, 1, 1'000'000}, {35, 1, 0, 1'000'000}, {0, 2, 0, 1'000'000},
        {40, 0, 1, 1'000'000}, {43, 0, 2, 1'000'000}, {46, 1, 3, 1'000'000}, {49, 1, 4, 1'000'000}};
  });
  const Analysis found = analyse(traffic);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "binary_tree_star");
  EXPECT_EQ(found.collectives[0].order.front(), "10.0.0.1");
  EXPECT_FALSE(found.straggler);
}

// In every step the hosts pair up anew, all at once, and swap their models.
TEST(Recognise, PairsByChanceInEveryStepArePairAveraging) {
  Random random(1, "pairs");
  const gather::Captured traffic = repeated([&](int) {
    std::vector<int> hosts{0, 1, 2, 3, 4, 5};
    for (std::size_t i = 5; i > 0; --i) std::swap(hosts[i], hosts[random.below(i + 1)]);
    std::vector<gather::Message> messages;
    for (std::size_t i = 0; i < 6; i += 2) {
      messages.push_back({random.uniform() * 3, hosts[i], hosts[i + 1], 1'000'000});
      messages.push_back({random.uniform() * 3, hosts[i + 1], hosts[i], 1'000'000});
    }
    return messages;
  });
  const Analysis found = analyse(traffic);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "pair_averaging");
  EXPECT_NEAR(static_cast<double>(found.iterations.steps.size()), kSteps, 1);
  EXPECT_EQ(found.model_bytes, 1'000'000u);
}

// Eight ranks dealt out over four hosts: the ring passes each edge twice, on a connection each,
// with 2 * 7/8 M every time. Two more connections of every two hosts are silent.
TEST(Recognise, CountsHowOftenTheRingPassesAnEdge) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 1, 2, 3}, .payload = 4'000'000};
  gather::Captured traffic = rhythm::play(job);
  std::vector<flow::Flow> flows = traffic.flows;
  for (flow::Flow& flow : flows) ++flow.key.source_port;
  traffic.flows.insert(traffic.flows.end(), flows.begin(), flows.end());
  for (std::uint32_t from = 1; from <= 4; ++from) {
    for (std::uint32_t to = 1; to <= 4; ++to) {
      const bool is_edge = to == from % 4 + 1;
      for (int i = is_edge ? 2 : 0; i < 4 && from != to; ++i) {
        flow::Flow silent;
        silent.key = {from, to, static_cast<std::uint16_t>(100 + i), 200, 6};
        traffic.flows.push_back(silent);
      }
    }
  }
  const Analysis found = analyse(traffic);
  ASSERT_TRUE(found.model_bytes);
  EXPECT_NEAR(static_cast<double>(*found.model_bytes), 4e6 * (2 * 3 / 4.0) / (2 * 7 / 8.0), 4e4);
}

}  // namespace
}  // namespace tw::diagnose
