// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/faults.h"

#include "trainwire/base/error.h"
#include "trainwire/sim/describe_faults.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/parse.h"
#include "trainwire/steps/figures.h"

#include <gmock/gmock.h>

#include <chrono>

namespace tw::sim {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// A ring of four, ten steps of 100 ms of compute and 6 rounds of 8 ms on the line.
spec::Experiment ring(const std::string& faults, const std::string& job = "") {
  const spec::Vocabulary words{
      .models = {}, .strategies = {"ring", "ps"}, .devices = {"a100"}, .served = {"ps"}};
  return spec::parse(
      "[network]\nhosts = 4\n[[job]]\nparameters = 4000000\nsteps = 10\nbroadcast = false\n"
      "compute_time = \"100ms\"\n" +
          job + faults,
      "x.toml", words, {});
}

double end_s(const std::string& faults, const std::string& job = "") {
  const Simulated found = simulate(ring(faults, job));
  return seconds(found.end);
}

std::string problem(const std::string& faults) {
  try {
    simulate(ring(faults));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

constexpr const char* kLink = "[[fault]]\nlink = \"host1\"\n";
constexpr const char* kRank = "[[fault]]\nkind = \"stop\"\nrank = 2\n";

// It goes down as the first rank begins its fourth step, and is up 900 ms after the exchange would
// have begun: nobody is done before.
TEST(Faults, ALinkThatIsDownHoldsUpTheRing) {
  const double usual = end_s("");
  const std::string down = std::string(kLink) + "kind = \"link-down\"\nfor = \"1s\"\nstep = 3\n";
  EXPECT_NEAR(end_s(down) - usual, 0.9, 0.001);
  // During compute alone it costs nothing.
  EXPECT_NEAR(end_s(std::string(kLink) + "kind = \"link-down\"\nfor = \"90ms\"\nat = 0\n"), usual,
              1e-6);
  // In one direction alone it does the same: what does not come in does not go on.
  EXPECT_NEAR(end_s(down + "direction = \"to_host\"\n") - usual, 0.9, 0.001);
}

// Every exchange takes four times as long on a link of a quarter.
TEST(Faults, ASlowLinkSlowsEveryRound) {
  const double usual = end_s("");
  const double exchange = (usual - 1.0) / 10;
  const std::string slow = std::string(kLink) + "kind = \"slow\"\nat = 0\n";
  EXPECT_NEAR(end_s(slow + "factor = 0.25\n"), 1.0 + 40 * exchange, 0.02 * 40 * exchange);
  EXPECT_EQ(end_s(slow + "factor = 0.25\n"), end_s(slow + "rate = \"250Mbit\"\n"));
  // Two at once: the slower one holds.
  EXPECT_EQ(end_s(slow + "factor = 0.25\n" + slow + "factor = 0.5\n"),
            end_s(slow + "factor = 0.25\n"));
}

// Half of the time down: an exchange in the flapping takes about twice as long.
TEST(Faults, ALinkThatFlapsIsDownForItsPart) {
  const double usual = end_s("");
  const double exchange = (usual - 1.0) / 10;
  const double flapping =
      end_s(std::string(kLink) + "kind = \"link-flap\"\nat = 0\nperiod = \"2ms\"\nduty = 0.5\n");
  EXPECT_NEAR(flapping, 1.0 + 20 * exchange, 0.1 * 20 * exchange);
}

TEST(Faults, ARankThatIsStoppedHoldsUpTheOthers) {
  const double usual = end_s("");
  // It would have computed meanwhile: 100 ms of the second.
  EXPECT_NEAR(end_s(std::string(kRank) + "step = 3\nfor = \"1s\"\n") - usual, 0.9, 0.002);
  // In the middle of an exchange.
  EXPECT_NEAR(end_s(std::string(kRank) + "at = \"120ms\"\nfor = \"1s\"\n") - usual, 1, 0.06);
  // Whatever the strategy and way to send: all go on after it. Without it asynchronous workers do too.
  for (const char* job : {"strategy = \"ps\"\n", "strategy = \"ps\"\nasynchronous = true\n",
                          "bucket = 400000\noverlap = true\n", "side_connections = 2\n"}) {
    const double held = end_s(std::string(kRank) + "at = \"150ms\"\nfor = \"1s\"\n", job);
    EXPECT_GT(held, end_s("", job) + 0.1) << job;
  }
}

TEST(Faults, WhatIsBrokenForGoodIsSaidInOneSentence) {
  EXPECT_THAT(problem(std::string(kRank) + "step = 3\n"),
              AllOf(HasSubstr("rank 2 of job0 on host2 was stopped at"),
                    HasSubstr("for good: ranks 0, 1 and 3 wait for it")));
  EXPECT_THAT(problem("[[fault]]\nkind = \"kill\"\nrank = 0\nstep = 4\n"),
              HasSubstr("rank 0 of job0 on host0 was killed at"));
  EXPECT_THAT(problem(std::string(kLink) + "kind = \"link-down\"\nat = \"1s\"\n"),
              AllOf(HasSubstr("host1 has been down since 1 s"), HasSubstr("for rank")));
}

TEST(Faults, WhatComesAfterTheJobsDoesNotHappen) {
  const Simulated found =
      simulate(ring(std::string(kLink) + "kind = \"link-down\"\nat = \"1h\"\n"));
  EXPECT_EQ(found.faults.at(0).begin, std::nullopt);
  EXPECT_LT(found.end, 3s);
}

// Two steps have the second in them that host1 was down; the record says what they took.
TEST(Faults, TheRecordTellsWhatTheyCost) {
  const Simulated found =
      simulate(ring(std::string(kLink) + "kind = \"link-down\"\nstep = 3\nfor = \"1s\"\n"));
  std::vector<record::PhaseRow> rows;
  for (const play::Step& step : found.jobs[0].steps) {
    rows.push_back({.rank = step.rank,
                    .step = step.step,
                    .phase = record::Phase::Step,
                    .start_ns = step.begin.count(),
                    .end_ns = step.end.count()});
  }
  const record::Job job = steps::described(found.jobs[0].training, rows, 0, false);
  const std::vector<record::Fault> faults = described_faults({job}, found);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].kind, "link-down");
  EXPECT_EQ(faults[0].where, "host1");
  EXPECT_NEAR(*faults[0].end_s - *faults[0].begin_s, 1, 1e-9);
  const record::FaultCost& cost = faults[0].costs.at(0);
  EXPECT_NEAR(cost.cost_s, 0.9, 0.01);
  EXPECT_NEAR(cost.longest_s, cost.usual_s + 0.9, 0.01);
  EXPECT_EQ(cost.steps, 1U);
}

// Datagrams have their pace first, after a moment in which a link was slower as before it.
TEST(Faults, DatagramsGoFirstAfterwardsToo) {
  const auto got = [](const std::string& fault) {
    const std::string traffic =
        "[[traffic]]\nkind = \"constant\"\nload = 0.4\nfrom = \"host0\"\nto = \"host2\"\n";
    return simulate(ring(traffic + fault)).traffic.front().outcome->achieved.bits_per_second();
  };
  const std::string link = "[[fault]]\nlink = \"host2\"\nat = \"800ms\"\n";
  EXPECT_NEAR(got(link + "kind = \"slow\"\nfactor = 0.99\nfor = \"1us\"\n") / got(""), 1, 0.01);
}

}  // namespace
}  // namespace tw::sim
