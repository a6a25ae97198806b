// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/jobs.h"

#include "trainwire/diagnose/test_analysis.h"
#include "trainwire/gather/hosts.h"

#include <gtest/gtest.h>

#include <set>

namespace tw::diagnose {
namespace {

using recognise::Jobs;

/// Both jobs in one capture. REQUIRES: no host of `other` has a higher number than all of `one`.
gather::Captured together(const rhythm::PlayedJob& one, const rhythm::PlayedJob& other) {
  gather::Captured traffic = rhythm::play(one);
  for (flow::Flow& flow : rhythm::play(other).flows) {
    flow.key.source_port = static_cast<std::uint16_t>(flow.key.source_port + 100);
    traffic.flows.push_back(std::move(flow));
  }
  return traffic;
}

Jobs found_in(const gather::Captured& traffic) {
  return recognise::find_jobs(traffic, gather::host_table(traffic, {}).host_of);
}

std::set<std::uint32_t> senders(const gather::Captured& traffic,
                                const std::vector<std::size_t>& flows) {
  std::set<std::uint32_t> addresses;
  for (const std::size_t flow : flows) addresses.insert(traffic.flows[flow].key.source);
  return addresses;
}

TEST(Jobs, OfHostsThatHaveNothingToDoWithOneAnotherAreToldApart) {
  const gather::Captured traffic =
      together({.strategy = "ring", .placement = {3, 4, 5}}, {.strategy = "ring",
                                                              .placement = {0, 1, 2},
                                                              .payload = 3'000'000,
                                                              .steps = 25,
                                                              .compute_s = 0.03});
  const Jobs jobs = found_in(traffic);
  ASSERT_EQ(jobs.others.size(), 1u);
  // The one of 25 steps moves 75 MB, the other one 60 MB.
  EXPECT_EQ(jobs.main.exchanges->steps.size(), 25u);
  EXPECT_EQ(senders(traffic, jobs.others[0]), (std::set<std::uint32_t>{4, 5, 6}));
}

TEST(Jobs, OnTheSameHostsAreToldApartByTheirSteps) {
  const gather::Captured traffic =
      together({.strategy = "ring", .placement = {0, 1, 2, 3}}, {.strategy = "ring",
                                                                 .placement = {2, 1, 0},
                                                                 .payload = 2'000'000,
                                                                 .steps = 22,
                                                                 .compute_s = 0.031});
  const Jobs jobs = found_in(traffic);
  ASSERT_EQ(jobs.others.size(), 1u);
  EXPECT_EQ(jobs.main.recognition->order.size(), 4u);
  EXPECT_EQ(jobs.others[0].size(), 3u);
}

// Both use the edges from 0 to 1 and from 1 to 2; what they do to each other's pauses is left out.
TEST(Jobs, OnTheSameEdgesAreToldApartByWhatTheirConnectionsCarry) {
  const gather::Captured traffic =
      together({.strategy = "ring", .placement = {0, 1, 2, 3}}, {.strategy = "ring",
                                                                 .placement = {0, 1, 2},
                                                                 .payload = 300'000,
                                                                 .steps = 33,
                                                                 .compute_s = 0.02,
                                                                 .seed = 2});
  const Jobs jobs = found_in(traffic);
  ASSERT_EQ(jobs.others.size(), 1u);
  EXPECT_EQ(jobs.main.exchanges->steps.size(), 15u);
  EXPECT_EQ(senders(traffic, jobs.others[0]), (std::set<std::uint32_t>{1, 2, 3}));
}

// Host 2 is in both: the root of the star that the ring's connections are parted from.
TEST(Jobs, AStarBesideARingOnSomeOfItsHostsIsAJob) {
  const gather::Captured traffic =
      together({.strategy = "ring", .placement = {0, 1, 2}}, {.strategy = "star",
                                                              .placement = {2, 1, 0},
                                                              .payload = 900'000,
                                                              .steps = 24,
                                                              .compute_s = 0.023,
                                                              .seed = 2});
  const Jobs jobs = found_in(traffic);
  ASSERT_TRUE(jobs.main.recognition);
  EXPECT_EQ(jobs.main.recognition->strategy, "ring");
  ASSERT_EQ(jobs.others.size(), 1u);
  EXPECT_EQ(jobs.others[0].size(), 4u);
}

TEST(Jobs, OnTheSameCircleAreToldApartByTheirConnections) {
  const gather::Captured traffic =
      together({.strategy = "ring", .placement = {0, 1, 2, 3}}, {.strategy = "ring",
                                                                 .placement = {1, 2, 3, 0},
                                                                 .payload = 2'000'000,
                                                                 .steps = 22,
                                                                 .compute_s = 0.031,
                                                                 .seed = 2});
  const Jobs jobs = found_in(traffic);
  ASSERT_EQ(jobs.others.size(), 1u);
  EXPECT_EQ(jobs.main.exchanges->steps.size(), 15u);
  EXPECT_EQ(jobs.others[0].size(), 4u);
}

// The same bytes on every connection, and paces a tenth apart.
TEST(Jobs, AreEachLookedAtWithoutTheOther) {
  const gather::Captured traffic = together({.strategy = "star",
                                             .placement = {4, 2, 3, 5},
                                             .payload = 2'700'000,
                                             .steps = 24,
                                             .compute_s = 0.215},
                                            {.strategy = "tree",
                                             .placement = {0, 1, 2, 3},
                                             .payload = 3'200'000,
                                             .steps = 20,
                                             .compute_s = 0.19,
                                             .seed = 2});
  const Jobs jobs = found_in(traffic);
  ASSERT_TRUE(jobs.main.recognition);
  ASSERT_EQ(jobs.others.size(), 1u);
  EXPECT_EQ(jobs.main.exchanges->steps.size() + jobs.others[0].size(), 24u + 6u);
}

// On the same five hosts, where connections of a job neither carry the same nor are as many for each host.
TEST(Jobs, OfAnyShapeAreToldApartByTheirPaces) {
  struct Case {
    const char* one;
    const char* other;
  };
  for (const Case& strategies : {Case{"ring", "ps"}, Case{"star", "ps"}, Case{"clique", "ps"},
                                 Case{"ring", "halving_doubling"}}) {
    SCOPED_TRACE(strategies.one);
    const gather::Captured traffic = together({.strategy = strategies.one,
                                               .placement = {0, 1, 2, 3, 4},
                                               .payload = 1'500'000,
                                               .steps = 24},
                                              {.strategy = strategies.other,
                                               .placement = {3, 4, 0, 1, 2},
                                               .payload = 1'412'000,
                                               .steps = 17,
                                               .compute_s = 0.08,
                                               .servers = 2,
                                               .seed = 2});
    const Jobs jobs = found_in(traffic);
    ASSERT_TRUE(jobs.main.recognition);
    EXPECT_EQ(jobs.main.recognition->strategy, strategies.one);
    EXPECT_EQ(jobs.main.exchanges->steps.size(), 24u);
    EXPECT_EQ(jobs.others.size(), 1u);
  }
}

// Paces within 3 %, and twice the bytes.
TEST(Jobs, OfNearlyOnePaceAreToldApartByWhatTheyCarry) {
  const gather::Captured traffic = together({.strategy = "star",
                                             .placement = {3, 5, 1, 2},
                                             .payload = 1'140'000,
                                             .steps = 21,
                                             .compute_s = 0.213},
                                            {.strategy = "tree",
                                             .placement = {0, 5, 4, 3, 1},
                                             .payload = 552'000,
                                             .steps = 21,
                                             .compute_s = 0.21,
                                             .seed = 2});
  const Jobs jobs = found_in(traffic);
  ASSERT_TRUE(jobs.main.recognition);
  ASSERT_EQ(jobs.others.size(), 1u);
  EXPECT_EQ(jobs.main.exchanges->steps.size(), 21u);
}

// Some connections of a clique have carried the model, five halves of a step, before: these keep the pace of halves,
// of which there are more than whole steps.
TEST(Jobs, AreToldApartWhereSomeOfTheirConnectionsKeepThePaceOfHalves) {
  gather::Captured traffic = together({.strategy = "clique",
                                       .placement = {0, 1, 2, 3, 4},
                                       .payload = 2'000'000,
                                       .steps = 17,
                                       .compute_s = 0.03,
                                       .jitter = 0.1,
                                       .latency_s = 10e-3},
                                      {.strategy = "tree",
                                       .placement = {3, 4, 0, 1, 2},
                                       .payload = 600'000,
                                       .steps = 22,
                                       .compute_s = 0.083,
                                       .seed = 2});
  for (flow::Flow& flow : traffic.flows) {
    const bool is_of_clique = flow.key.source_port < 40'100;
    if (!is_of_clique || flow.key.source > 2) continue;
    flow.bursts.insert(
        flow.bursts.begin(),
        {.start_ns = 50'000'000, .end_ns = 60'000'000, .bytes = 2'000'000, .packets = 1'400});
    flow.payload_bytes += 2'000'000;
    flow.first_ns = 50'000'000;
  }
  const Jobs jobs = found_in(traffic);
  ASSERT_TRUE(jobs.main.recognition);
  EXPECT_EQ(jobs.main.recognition->strategy, "clique");
  EXPECT_EQ(jobs.main.exchanges->steps.size(), 17u);
  EXPECT_EQ(jobs.others.size(), 1u);
}

TEST(Jobs, OfAHundredthOfTheBytesAreFound) {
  const gather::Captured traffic =
      together({.strategy = "ring", .placement = {3, 4, 5}, .payload = 40'000'000},
               {.strategy = "clique", .placement = {0, 1, 2}, .payload = 200'000, .steps = 20});
  EXPECT_EQ(found_in(traffic).others.size(), 1u);
}

TEST(Jobs, AreOneWhereOneTrains) {
  for (const char* strategy : {"ring", "clique", "halving_doubling", "double_tree", "ps"}) {
    const Jobs jobs = found_in(rhythm::play({.strategy = strategy, .placement = {0, 1, 2, 3}}));
    EXPECT_TRUE(jobs.main.recognition) << strategy;
    EXPECT_TRUE(jobs.others.empty()) << strategy;
  }
}

}  // namespace
}  // namespace tw::diagnose
