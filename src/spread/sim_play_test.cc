// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spread/sim_play.h"

#include "trainwire/base/error.h"
#include "trainwire/spread/sweep_array.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tw::spread {
namespace {

command::ExperimentFile file_of(std::string content) {
  return {.path = "test.toml", .overrides = {}, .content = std::move(content)};
}

const char* const kRing = R"(
[network]
hosts = 2
rate = "100Mbit"
[[job]]
parameters = "1MB"
steps = 3
[run]
scale = 4
)";

bool has_schedule(const record::Run& run) {
  return std::any_of(run.checks.begin(), run.checks.end(),
                     [](const record::Check& check) { return check.name == "schedule"; });
}

TEST(SimPlay, SimulatesTheClusterItselfWhateverTheScaleOfItsEmulation) {
  EXPECT_EQ(to_simulate(file_of(kRing)).run.scale.value, 1);
}

TEST(SimPlay, RefusesAnExperimentWithoutJobs) {
  EXPECT_THROW(to_simulate(file_of("[network]\nhosts = 2\n")), SpecError);
}

TEST(SimPlay, WhatWasCutOffIsNotHeldAgainstItsSchedule) {
  const spec::Experiment experiment = to_simulate(file_of(kRing));
  const Played whole = played(experiment, sim::Level::Packet, [](Duration) { return true; });
  EXPECT_FALSE(whole.interrupted);
  EXPECT_TRUE(has_schedule(whole.run));
  const Played cut = played(experiment, sim::Level::Packet, [](Duration) { return false; });
  EXPECT_TRUE(cut.interrupted);
  EXPECT_FALSE(has_schedule(cut.run));
}

TEST(SweepArray, IsOneBySrunAlone) {
  EXPECT_FALSE(is_array({}));
  EXPECT_FALSE(is_array({.launch = fleet::Launch{.kind = fleet::LaunchKind::Mpirun}}));
}

}  // namespace
}  // namespace tw::spread
