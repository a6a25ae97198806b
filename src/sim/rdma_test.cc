// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/sim/captures.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/parse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace tw::sim {
namespace {

using namespace std::chrono_literals;

spec::Experiment experiment(const std::string& text) {
  const spec::Vocabulary words{
      .models = {}, .strategies = {"ring", "ps"}, .devices = {"a100"}, .served = {"ps"}};
  return spec::parse(text, "x.toml", words, {});
}

/// Four hosts of 10 Gbit/s, and 5 MB that a strategy moves.
spec::Experiment four(const std::string& transport, const std::string& more = "") {
  return experiment(
      fmt::format("[network]\nhosts = 4\nrate = \"10Gbit/s\"\ndelay = \"5us\"\n[[job]]\ncompute = "
                  "\"none\"\nbroadcast = false\nparameters = 5000000\nsteps = 2\nwarmup = "
                  "0\ntransport = \"{}\"\n{}",
                  transport, more));
}

/// Seconds of the last step of the only job.
double step(const Simulated& simulated) {
  Duration longest = {};
  const std::vector<play::Step> steps = all_steps(simulated.jobs.at(0));
  for (const play::Step& one : steps) {
    if (one.step == steps.back().step) longest = std::max(longest, one.end - one.begin);
  }
  return seconds(longest);
}

// What a ring moves is 1.5 times the model from every rank; of a frame's 1,082 bytes 1,024 are
// payload. Both levels within 2 %.
TEST(Rdma, ARingTakesItsBytes) {
  const double expected = 1.5 * 5e6 * 8 / 10e9 * 1082 / 1024;
  EXPECT_NEAR(step(simulate(four("rdma"), Level::Flow)), expected, 0.02 * expected);
  EXPECT_NEAR(step(simulate(four("rdma"), Level::Packet)), expected, 0.02 * expected);
}

// Three workers send to one server at once: its port marks, and nothing is lost.
TEST(Rdma, AServerLosesNothing) {
  const Simulated simulated = simulate(four("rdma", "strategy = \"ps\"\n"), Level::Packet);
  std::int64_t marked = 0;
  for (const medium::PortFigures& port : simulated.ports) {
    EXPECT_EQ(port.dropped, 0);
    marked += port.marked;
  }
  EXPECT_GT(marked, 0);
  const double bound = 2 * 3 * 5e6 * 8 / 10e9 * 1082 / 1024;
  EXPECT_GT(step(simulated), 0.99 * bound);
  EXPECT_LT(step(simulated), 1.1 * bound);
}

TEST(Rdma, LossDelaysARingAndDoesNotStopIt) {
  spec::Experiment lossy = four("rdma");
  lossy.network.link.loss = {0.001};
  const double clean = step(simulate(four("rdma"), Level::Packet));
  const double took = step(simulate(lossy, Level::Packet));
  EXPECT_GT(took, clean);
  EXPECT_LT(took, clean + 1.0);
}

TEST(Rdma, HasNoCaptures) {
  const spec::Experiment rdma = four("rdma");
  EXPECT_THROW(Captures(rdma, "/tmp"), SpecError);
}

}  // namespace
}  // namespace tw::sim
