// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/cross_traffic.h"

#include "trainwire/base/error.h"
#include "trainwire/sim/describe_traffic.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/parse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>

namespace tw::sim {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Two hosts at 1 Gbit/s whose ranks compute for a while, and traffic from a third to a fourth.
spec::Experiment experiment(const std::string& traffic, const std::string& steps = "10") {
  const spec::Vocabulary words{
      .models = {}, .strategies = {"ring"}, .devices = {"a100"}, .served = {}};
  return spec::parse("[network]\nhosts = 4\n[[job]]\nranks = 2\nparameters = 400\nsteps = " +
                         steps + "\ncompute_time = \"100ms\"\n[[traffic]]\n" + traffic,
                     "x.toml", words, {});
}

PlayedTraffic played(const std::string& keys, const std::string& steps = "10") {
  return simulate(experiment("from = \"host2\"\nto = \"host3\"\n" + keys, steps)).traffic.at(0);
}

// Alone on its way each kind has what it asks for, for the 1 s that the job takes.
TEST(CrossTraffic, AchievesWhatIsAskedForWhereNobodyElseIs) {
  for (const char* kind : {"long", "websearch", "burst", "constant"}) {
    for (const double share : {0.1, 0.5, 0.9}) {
      const PlayedTraffic found =
          played(fmt::format("kind = \"{}\"\nload = {}\ndistribution = \"{}\"\n", kind, share,
                             "1000 0\\n100000 1\\n"));
      ASSERT_TRUE(found.outcome) << kind;
      const load::Outcome& outcome = *found.outcome;
      const double asked = found.entry.payload_rate().bits_per_second();
      EXPECT_NEAR(outcome.elapsed_s, 1, 0.01);
      EXPECT_NEAR(outcome.achieved.bits_per_second() / asked, 1, 0.03) << kind << ' ' << share;
      EXPECT_EQ(outcome.started, outcome.finished + outcome.unfinished);
      EXPECT_EQ(outcome.unstarted, 0);
      EXPECT_EQ(outcome.lateness_p99_s, 0);
    }
  }
}

// A megabyte alone: on the line, its way, and the answer's way back; first a round trip to connect.
// Ten frames are gone before the first five of them, which are answered as one train, are
// acknowledged: for the rest of that round trip the line is idle, and so it is after the twenty of the
// next.
TEST(CrossTraffic, AFlowTakesItsTimeAndTheAnswers) {
  const std::string path = testing::TempDir() + "cross_traffic_test.csv";
  std::ofstream(path) << "# duration_s,0.5\nstart_s,destination,bytes\n0.1,host3,1000000\n"
                         "0.2,host1,5\n";
  const std::string keys = fmt::format("kind = \"file\"\nfrom = \"host2\"\nfile = \"{}\"\n", path);
  const Simulated reused = simulate(experiment(keys));
  ASSERT_EQ(reused.traffic.size(), 2U);
  const PlayedTraffic& large = reused.traffic[1];
  const PlayedTraffic& small = reused.traffic[0];
  EXPECT_EQ(small.entry.to, 1);
  ASSERT_EQ(large.flows.size(), 1U);
  const double line_s = 8e6 / 1e9 * 1514 / 1448;
  const double way_s = 100e-6 + 8 * 1514 / 1e9;
  const double frame_s = 8 * 1514 / 1e9;
  const double slow_s = (200e-6 + (2 + 4 - 10) * frame_s) + (200e-6 + (2 + 9 - 20) * frame_s);
  EXPECT_EQ(large.flows[0].start, 100ms);
  EXPECT_NEAR(seconds(*large.flows[0].end), 0.1 + slow_s + line_s + 2 * way_s, 1e-7);
  EXPECT_NEAR(large.outcome->elapsed_s, 0.5, 1e-9);
  EXPECT_NEAR(large.outcome->achieved.bits_per_second(), 16e6, 1);
  EXPECT_EQ(large.outcome->completion[1].n, 1);
  const Simulated own = simulate(experiment(keys + "reuse_connections = false\n"));
  EXPECT_NEAR(seconds(*own.traffic[1].flows[0].end), 0.1 + slow_s + line_s + 4 * way_s, 1e-7);
}

TEST(CrossTraffic, BeginsAndEndsWhenItSays) {
  const PlayedTraffic found =
      played("kind = \"long\"\nload = 0.5\nflows = 3\nstart = \"300ms\"\nduration = \"200ms\"\n");
  EXPECT_NEAR(found.outcome->elapsed_s, 0.2, 1e-9);
  ASSERT_EQ(found.flows.size(), 3U);
  EXPECT_EQ(found.flows[0].start, 300ms);
  EXPECT_EQ(found.flows[0].end, 500ms);
  EXPECT_EQ(played("load = 0\n").outcome, std::nullopt);
  // The jobs end before it begins.
  EXPECT_EQ(played("load = 0.5\nstart = \"30s\"\n").outcome->elapsed_s, 0);
}

// Into the same host as a ring of two: 40 % of the line are datagrams', the ring has the rest.
TEST(CrossTraffic, DatagramsLeaveARingTheRest) {
  const auto step_s = [](const std::string& traffic) {
    const spec::Vocabulary words{
        .models = {}, .strategies = {"ring"}, .devices = {"a100"}, .served = {}};
    const Simulated found = simulate(
        spec::parse("[network]\nhosts = 3\n[[job]]\nranks = 2\nparameters = 20000000\nsteps = "
                    "3\ncompute = \"none\"\nbroadcast = false\n" +
                        traffic,
                    "x.toml", words, {}));
    const play::Step last = all_steps(found.jobs[0]).back();
    return seconds(last.end - last.begin);
  };
  const double alone = step_s("");
  const double beside =
      step_s("[traffic]\nkind = \"constant\"\nfrom = \"host2\"\nto = \"host0\"\nload = 0.4\n");
  EXPECT_NEAR(beside / alone, 1 / 0.6, 0.01);
}

TEST(CrossTraffic, DatagramsThatTwoSendIntoOneLinkAreLost) {
  const std::string two =
      "kind = \"constant\"\nload = 0.8\nfrom = \"host1\"\nto = \"host3\"\n[[traffic]]\n"
      "kind = \"constant\"\nload = 0.8\nfrom = \"host2\"\nto = \"host3\"\n";
  const std::string text =
      "[network]\nhosts = 4\n[[job]]\nranks = 1\nparameters = 4\nsteps = 10\n"
      "compute_time = \"100ms\"\n[[traffic]]\n" +
      two;
  const Simulated found = simulate(
      spec::parse(text, "x.toml",
                  {.models = {}, .strategies = {"ring"}, .devices = {"a100"}, .served = {}}, {}));
  const load::Outcome& outcome = *found.traffic[0].outcome;
  // Five of eight find room.
  EXPECT_NEAR(static_cast<double>(*outcome.datagrams_received) /
                  static_cast<double>(*outcome.datagrams_sent),
              0.625, 0.001);
}

// Two of each kind that ask for more than the link into host3 has: pieces and flows wait for one
// another, all of the link is used, packet by packet as flow by flow.
TEST(CrossTraffic, FillsALinkAtEveryLevel) {
  for (const Level level : {Level::Flow, Level::Packet}) {
    for (const char* kind : {"long", "websearch", "constant"}) {
      const std::string keys =
          fmt::format("kind = \"{}\"\nload = 0.9\nto = \"host3\"\nfrom = ", kind);
      spec::Experiment made =
          experiment(keys + "\"host1\"\n[[traffic]]\n" + keys + "\"host2\"\n", "10");
      for (spec::Traffic& one : made.traffic) one.duration = {std::optional<Duration>(800ms)};
      const Simulated found = simulate(made, level);
      double achieved = 0;
      for (const PlayedTraffic& one : found.traffic) {
        achieved += one.outcome->achieved.bits_per_second() / one.entry.payload_share;
      }
      EXPECT_LE(achieved, 1.001e9) << kind;
      EXPECT_GT(achieved, 0.8e9) << kind << ' ' << name_of(level);
    }
  }
}

TEST(CrossTraffic, MoreThanTheWayCarriesIsRefused) {
  try {
    played("load = \"11Gbit\"\n");
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("11 Gbit/s is more than the 1 Gbit/s that the way"));
  }
}

TEST(CrossTraffic, TheSameSeedGivesTheSame) {
  const std::string keys = "kind = \"websearch\"\nload = 0.5\n";
  const PlayedTraffic one = played(keys, "20");
  const PlayedTraffic two = played(keys, "20");
  EXPECT_EQ(one.outcome, two.outcome);
  EXPECT_GT(one.flows.size(), 10U);
}

// Rings into and out of host3 share links with the traffic; the record says what each had.
TEST(CrossTraffic, IsRecordedAndCheckedAgainstTheLinks) {
  const spec::Vocabulary words{
      .models = {}, .strategies = {"ring"}, .devices = {"a100"}, .served = {}};
  const spec::Experiment made = spec::parse(
      "[network]\nhosts = 4\n[[job]]\nparameters = 4000000\nsteps = 9\ncompute = \"none\"\n"
      "broadcast = false\n[[traffic]]\nkind = \"websearch\"\nload = 0.5\nfrom = \"host2\"\nto = "
      "\"host3\"\n"
      "[[traffic]]\nkind = \"long\"\nload = 0.2\nfrom = \"host1\"\nto = \"host3\"\n",
      "x.toml", words, {});
  Simulated found = simulate(made);
  const network::Network network(made.network);
  const record::CrossTraffic traffic = described_traffic(network, found);
  EXPECT_NEAR(traffic.requested_bps, 0.7e9, 1);
  EXPECT_GT(traffic.achieved_bps, 0.1e9);
  ASSERT_EQ(traffic.gradient_pairs.size(), 4U);
  EXPECT_TRUE(traffic.gradient_pairs[2].shares_a_link);   // host2 to host3
  EXPECT_FALSE(traffic.gradient_pairs[3].shares_a_link);  // host3 to host0
  EXPECT_TRUE(traffic_check(network, found).ok) << traffic_check(network, found).text;
  // A link that carried a gigabyte more, or less, than anybody sent.
  for (const double more : {-1e9, 1e9}) {
    Simulated wrong = found;
    wrong.ports[7].payload_bytes += more;
    EXPECT_FALSE(traffic_check(network, wrong).ok);
  }
}

// What is on its way when all ends has come from where the traffic comes from, on the other side of the core.
TEST(CrossTraffic, FarTrafficMayBeOnItsWayWhenAllEnds) {
  const spec::Vocabulary words{
      .models = {}, .strategies = {"ring"}, .devices = {"a100"}, .served = {}};
  const spec::Experiment made = spec::parse(
      "[network]\nhosts = 4\nrate = \"100Mbit\"\ndelay = \"20ms\"\ntopology = "
      "\"dumbbell\"\ncore_rate "
      "= \"100Mbit\"\n[[job]]\nparameters = 4000\nsteps = 9\ncompute = \"none\"\nbroadcast = "
      "false\n"
      "[[traffic]]\nkind = \"long\"\nload = 0.5\nfrom = \"host3\"\nto = \"host0\"\n",
      "x.toml", words, {});
  Simulated found = simulate(made);
  const network::Network network(made.network);
  const int port = network.path(3, 0).back();
  double more = 0;  // than what has come
  for (const PlayedTraffic& one : found.traffic) {
    more -= static_cast<double>(one.outcome->sent.count());
  }
  for (const auto& [pair, bytes] : found.jobs[0].bytes) {
    if (pair.second == 0) more -= static_cast<double>(bytes);
  }
  double& carried = found.ports[static_cast<std::size_t>(port)].payload_bytes;
  carried = -more + 0.055 * 100e6 / 8;  // of 60 ms
  EXPECT_TRUE(traffic_check(network, found).ok) << traffic_check(network, found).text;
  carried += 0.015 * 100e6 / 8;
  EXPECT_FALSE(traffic_check(network, found).ok);
}

}  // namespace
}  // namespace tw::sim
