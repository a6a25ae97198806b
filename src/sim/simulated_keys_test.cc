// SPDX-License-Identifier: Apache-2.0
// Keys that only simulations obey, from the file to what they change.
#include "trainwire/base/error.h"
#include "trainwire/sim/closed_form.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/parse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tw::sim {
namespace {

using ::testing::HasSubstr;

spec::Experiment experiment(const std::string& text) {
  const spec::Vocabulary words{
      .models = {}, .strategies = {"ring", "ps"}, .devices = {"a100"}, .served = {"ps"}};
  return spec::parse(text, "x.toml", words, {});
}

std::string job(const std::string& keys) {
  return "[[job]]\ncompute = \"none\"\nbroadcast = false\n" + keys + "\n";
}

/// Mean seconds of a job's steps from `first` on.
double step_s(const Simulated& simulated, std::size_t job = 0, std::int64_t first = 1) {
  double sum = 0;
  int count = 0;
  for (const play::Step& step : all_steps(simulated.jobs.at(job))) {
    if (step.step < first) continue;
    sum += seconds(step.end - step.begin);
    ++count;
  }
  return sum / count;
}

medium::PortFigures all_ports(const Simulated& simulated) {
  medium::PortFigures sum;
  for (const medium::PortFigures& port : simulated.ports) {
    sum.dropped += port.dropped;
    sum.marked += port.marked;
    sum.paused += port.paused;
    sum.deepest_bytes = std::max(sum.deepest_bytes, port.deepest_bytes);
  }
  return sum;
}

class AtBothLevels : public ::testing::TestWithParam<Level> {};
INSTANTIATE_TEST_SUITE_P(SimulatedKeys, AtBothLevels,
                         ::testing::Values(Level::Flow, Level::Packet));

// Linux over emulated links lost 3 to 7 times its rate when segments instead of trains were lost, at
// the same share (src/netsim/loss_test.cc). A ring's steps are some of that, with waits that are
// alike.
TEST_P(AtBothLevels, LosingTrainsCostsLessThanLosingSegments) {
  const auto take_s = [](const std::string& unit) {
    return step_s(simulate(experiment("[network]\nhosts = 2\nloss = \"0.5%\"\ndelay = "
                                      "\"250us\"\nloss_unit = \"" +
                                      unit + "\"\n" + job("parameters = \"10MB\"\nsteps = 6")),
                           GetParam()));
  };
  const double ratio = take_s("segment") / take_s("train");
  EXPECT_GT(ratio, 1.8);
  EXPECT_LT(ratio, 7);
}

/// Two rings across one core link.
std::string two_rings(const std::string& first, const std::string& second) {
  return "[network]\ntopology = \"dumbbell\"\nhosts = 4\nrate = \"1Gbit\"\n" +
         job("parameters = \"5MB\"\nsteps = 8\nhosts = [\"host0\", \"host2\"]\n" + first) +
         job("parameters = \"5MB\"\nsteps = 8\nhosts = [\"host1\", \"host3\"]\n" + second);
}

// Alone a step takes its bytes on the core: 5 MB each way. The lower job has what is left: nothing,
// until the higher one has done its steps.
TEST_P(AtBothLevels, TheHigherPriorityGoesFirst) {
  const Simulated both = simulate(experiment(two_rings("priority = 3", "")), GetParam());
  const double alone_s = 5e6 * 8 / 1e9 * 1514 / 1448;
  EXPECT_NEAR(step_s(both, 0), alone_s, 0.06 * alone_s);
  EXPECT_NEAR(seconds(both.end), 16 * alone_s, 0.1 * 16 * alone_s);
  const Simulated fair = simulate(experiment(two_rings("", "")), GetParam());
  EXPECT_NEAR((step_s(fair, 0) + step_s(fair, 1)) / 2, 2 * alone_s, 0.4 * alone_s);
}

TEST_P(AtBothLevels, TrafficOfAHigherPriorityTakesItsRateFirst) {
  const auto take_s = [](int priority) {
    return step_s(simulate(
        experiment(fmt::format("[network]\nhosts = 3\n{}[[traffic]]\nkind = \"long\"\nfrom = "
                               "\"host2\"\nto = \"host1\"\nload = 0.8\nflows = 1\npriority = {}\n",
                               job("parameters = \"5MB\"\nsteps = 30\nhosts = [\"host0\", "
                                   "\"host1\"]"),
                               priority)),
        GetParam()));
  };
  const double alone_s = 5e6 * 8 / 1e9 * 1514 / 1448;
  // Beside an equal one a ring has half of the line, or somewhat more, beside a higher one a fifth.
  EXPECT_NEAR(take_s(0), 2 * alone_s, 0.7 * alone_s);
  EXPECT_NEAR(take_s(5), 5 * alone_s, 1.2 * alone_s);
}

TEST_P(AtBothLevels, AJobHasACongestionControlOfItsOwn) {
  // Of two streams under loss BBR's has what Reno's has not.
  const std::string lossy =
      two_rings("congestion_control = \"bbr\"", "congestion_control = \"reno\"");
  spec::Experiment asked = experiment(lossy);
  asked.network.link.loss = {0.01};
  const Simulated found = simulate(asked, GetParam());
  EXPECT_LT(step_s(found, 0), 0.7 * step_s(found, 1));
  try {
    simulate(experiment(two_rings("name = \"a\"\ncongestion_control = \"vegas\"", "")), GetParam());
    FAIL() << "nobody simulates Vegas";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("job a: congestion_control: \"vegas\" cannot be simulated; "
                                        "there are reno, cubic, dctcp, bbr, mltcp"));
  }
}

/// Mean step, from `first` on, of two jobs that compute for 400 ms, as long as they send alone; the second
/// begins 20 ms later.
double competing_s(const std::string& control, Level level, int steps = 8, int first = 4) {
  const std::string keys =
      "parameters = \"50MB\"\nconnections = 8\ncompute_time = \"400ms\"\nbroadcast = "
      "false\nsteps = " +
      std::to_string(steps) + "\ncongestion_control = \"" + control + "\"\n";
  const Simulated both = simulate(
      experiment("[network]\ntopology = \"dumbbell\"\nhosts = 4\nqueue = \"250KB\"\n[[job]]\nhosts "
                 "= [\"host0\", \"host2\"]\n" +
                 keys + "[[job]]\nstart = \"20ms\"\nhosts = [\"host1\", \"host3\"]\n" + keys),
      level);
  return (step_s(both, 0, first) + step_s(both, 1, first)) / 2;
}

// Alone a step takes 400 ms of computing and 418 of sending; together both send for 836 ms less the
// 20 ms apart, unless one sends while the other computes. CUBIC leaves them as they are, MLTCP drives
// them apart: at once where shares follow weights, now and then where windows have to grow.
TEST(SimulatedKeys, MltcpBringsJobsOutOfPhase) {
  const double alone_s = 0.4 + 50e6 * 8 / 1e9 * 1514 / 1448;
  EXPECT_NEAR(competing_s("cubic", Level::Flow), 2 * alone_s - 0.4 - 0.02, 0.02 * alone_s);
  EXPECT_LT(competing_s("mltcp", Level::Flow), 1.06 * alone_s);
  EXPECT_LT(competing_s("mltcp", Level::Packet, 24, 0),
            0.95 * competing_s("cubic", Level::Packet, 24, 0));
}

// Weights change without TCP too.
TEST(SimulatedKeys, MltcpWeighsStreamsThatHaveTheirShareAtOnce) {
  const spec::Experiment both = experiment(
      "[network]\nhosts = 2\n[[job]]\nparameters = \"5MB\"\nsteps = 2\ncompute_time = \"10ms\"\n"
      "congestion_control = \"mltcp\"\n");
  const Simulated found = simulate(both, Level::Flow, {.at_once = true});
  EXPECT_NEAR(step_s(found, 0, 1), 0.01 + 5e6 * 8 / 1e9 * 1514 / 1448, 1e-3);
}

TEST(SimulatedKeys, EarlyDropsKeepAQueueShort) {
  const auto found = [](const std::string& keys) {
    return all_ports(
        simulate(experiment("[network]\nhosts = 3\nrate = \"100Mbit\"\ndelay = \"1ms\"\n"
                            "congestion_control = \"reno\"\n" +
                            keys + job("strategy = \"ps\"\nparameters = \"5MB\"\nsteps = 2")),
                 Level::Packet));
  };
  const std::string bounds = "ecn = \"20KiB\"\necn_until = \"100KiB\"\necn_most = 0.1\n";
  const medium::PortFigures marked = found(bounds);
  EXPECT_GT(marked.marked, 0);
  EXPECT_EQ(marked.dropped, 0);
  const medium::PortFigures dropped = found(bounds + "ecn_action = \"drop\"\n");
  EXPECT_EQ(dropped.marked, 0);
  EXPECT_GT(dropped.dropped, 0);
  // A mean that hardly moves notices too late.
  const medium::PortFigures slow = found(bounds + "ecn_average = 0.002\n");
  EXPECT_GT(slow.deepest_bytes, marked.deepest_bytes);
}

/// Seven workers of a server at once.
medium::PortFigures incast(const std::string& network, const std::string& keys) {
  return all_ports(
      simulate(experiment("[network]\nhosts = 8\nrate = \"10Gbit\"\ndelay = \"5us\"\nqueue = "
                          "\"100KB\"\nallow_shallow_queue = true\n" +
                          network +
                          job("strategy = \"ps\"\nparameters = \"3MB\"\nsteps = 2\ntransport = "
                              "\"rdma\"\n" +
                              keys)),
               Level::Packet));
}

TEST(SimulatedKeys, WithoutPausesRdmaLosesPackets) {
  const medium::PortFigures paused = incast("", "rdma_control = \"none\"");
  EXPECT_GT(paused.paused, Duration(0));
  EXPECT_EQ(paused.dropped, 0);
  const medium::PortFigures dropped = incast("pfc = false\n", "rdma_control = \"none\"");
  EXPECT_EQ(dropped.paused, Duration(0));
  EXPECT_GT(dropped.dropped, 0);
  // Rates that follow marks drop less than rates that do not.
  EXPECT_LT(incast("pfc = false\n", "").dropped, dropped.dropped);
}

TEST(SimulatedKeys, GoingBackRepeatsMoreThanIsLost) {
  const auto take_s = [](const std::string& keys) {
    return step_s(simulate(
        experiment("[network]\nhosts = 2\nrate = \"10Gbit\"\ndelay = \"20us\"\nloss = \"0.1%\"\n" +
                   job("parameters = \"20MB\"\nsteps = 3\ntransport = \"rdma\"\n" + keys)),
        Level::Packet));
  };
  EXPECT_GT(take_s("rdma_repair = \"go_back\""), 1.05 * take_s(""));
}

// The paper's periods bring rates back sooner than the cards', and to more marks.
TEST(SimulatedKeys, RatesFollowMarksAsTheJobSays) {
  EXPECT_NE(incast("", "rdma_control = \"dcqcn_paper\"").marked, incast("", "").marked);
}

TEST(SimulatedKeys, ClosedFormsAreRefusedWherePathsOrSharesDiffer) {
  const auto reason = [](const std::string& network, const std::string& keys) {
    return in_closed_form(experiment("[network]\ntopology = \"fattree\"\nhosts = 16\n" + network +
                                     job("parameters = \"1MB\"\nsteps = 2\n" + keys)))
        .reason;
  };
  EXPECT_EQ(reason("", ""), "");
  EXPECT_THAT(reason("paths = \"flow\"\n", ""), HasSubstr("not picked by destination"));
  EXPECT_THAT(reason("paths = \"packet\"\n", ""), HasSubstr("not picked by destination"));
  EXPECT_THAT(reason("", "congestion_control = \"mltcp\""), HasSubstr("MLTCP"));
}

}  // namespace
}  // namespace tw::sim
