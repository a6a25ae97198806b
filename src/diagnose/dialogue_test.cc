// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/dialogue.h"

#include "trainwire/diagnose/analysis.h"
#include "trainwire/gather/test_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::diagnose {
namespace {

const std::vector<int> kHostOf{-1, 0, 1, 2, 3, 4};

std::optional<recognise::Pulls> servings(const gather::Captured& traffic) {
  return recognise::find_asynchronous_servers(rhythm::flow_channels(traffic, kHostOf));
}

/// Workers 1 to 3 send host 0 a megabyte in two parts, 3 ms apart, and get it back 8 ms after; each
/// computes at its own pace, of 41, 53 and 67 ms, to which every other step adds 20.
std::vector<gather::Message> asynchronous() {
  std::vector<gather::Message> messages;
  const double computes_ms[] = {41, 53, 67};
  for (int worker = 1; worker <= 3; ++worker) {
    double at = 100 + 10 * worker;
    for (int step = 0; step < 20; ++step) {
      messages.push_back({at, worker, 0, 400'000});
      messages.push_back({at + 3, worker, 0, 600'000});
      messages.push_back({at + 8, 0, worker, 1'000'000});
      at += 10 + computes_ms[worker - 1] + 20 * (step % 2);
    }
  }
  return messages;
}

TEST(TurnsOf, JoinWhatOneHostSendsBeforeTheOtherDoes) {
  // A request of 60 bytes, and leave to send more, take no turn.
  const gather::Captured traffic = gather::traffic_of({{10, 1, 0, 400'000},
                                                       {13, 0, 1, 30},
                                                       {15, 1, 0, 600'000},
                                                       {20, 1, 0, 60},
                                                       {22, 0, 1, 1'000'000}});
  const std::vector<recognise::Turn> turns =
      recognise::turns_of(rhythm::flow_channels(traffic, kHostOf));
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].from, 1);
  EXPECT_NEAR(turns[0].bytes, 1e6, 100);
  EXPECT_EQ(turns[1].from, 0);
}

TEST(FindServings, GivesEachWorkerItsOwnSteps) {
  const std::optional<recognise::Pulls> found = servings(gather::traffic_of(asynchronous()));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->servers, ::testing::ElementsAre(0));
  EXPECT_EQ(found->by_host.size(), 3u);
  EXPECT_EQ(found->by_host.at(2).size(), 20u);
  EXPECT_NEAR(found->bytes, 1e6, 1);
  EXPECT_NEAR(found->share, 1, 1e-9);
}

// Two servers hold half of the model each: a worker's step is both dialogues.
TEST(FindServings, AddsTheShardsOfTheServers) {
  std::vector<gather::Message> messages;
  for (gather::Message message : asynchronous()) {
    for (const int server : {0, 4}) {
      gather::Message half = message;
      (half.from == 0 ? half.from : half.to) = server;
      half.bytes /= 2;
      messages.push_back(half);
    }
  }
  const std::optional<recognise::Pulls> found = servings(gather::traffic_of(messages));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->servers, ::testing::ElementsAre(0, 4));
  EXPECT_NEAR(found->bytes, 1e6, 1);
  EXPECT_EQ(found->by_host.at(1).size(), 20u);
}

// All workers send before any of them is answered, as in a star.
TEST(FindServings, LeavesStepsThatAllShareAlone) {
  std::vector<gather::Message> messages;
  for (int step = 0; step < 10; ++step) {
    for (int worker = 1; worker <= 3; ++worker) {
      messages.push_back({100.0 * step + 10 + worker, worker, 0, 1'000'000});
      messages.push_back({100.0 * step + 20 + worker, 0, worker, 1'000'000});
    }
  }
  EXPECT_FALSE(servings(gather::traffic_of(messages)));
}

TEST(FindServings, NeedsTheSameInBothDirections) {
  std::vector<gather::Message> messages = asynchronous();
  for (gather::Message& message : messages) {
    if (message.from == 0) message.bytes = 100'000;
  }
  EXPECT_FALSE(servings(gather::traffic_of(messages)));
}

TEST(Analyse, NamesTheServerThatAnswersAtOnce) {
  const Analysis found = analyse(gather::traffic_of(asynchronous()));
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "ps");
  EXPECT_EQ(found.collectives[0].order.front(), "10.0.0.1");
  EXPECT_EQ(found.hosts[0].role, gather::Role::Server);
  EXPECT_EQ(found.model_bytes, 1'000'000u);
}

// Two hosts give each other as much after every step, whoever is late in it: two steps together would keep the law of an
// all-reduce, and are two.
TEST(Analyse, ExchangesBeforeEachOfWhichBothComputeAreStepsEach) {
  std::vector<gather::Message> messages;
  double at = 100;
  for (int step = 0; step < 40; ++step) {
    const double late = (step * 7) % 5 - 2;
    messages.push_back({at + std::max(0.0, 4 * late), 0, 1, 4'000'000});
    messages.push_back({at + std::max(0.0, -4 * late), 1, 0, 4'000'000});
    at += 100 + (step * 11) % 13;
  }
  gather::Captured traffic = gather::traffic_of(messages);
  for (flow::Flow& flow : traffic.flows) flow.round_trips.add(200'000);
  const Analysis found = analyse(traffic);
  EXPECT_NEAR(static_cast<double>(found.iterations.steps.size()), 40, 2);
  EXPECT_NEAR(found.iterations.median_s, 0.106, 0.005);
}

}  // namespace
}  // namespace tw::diagnose
