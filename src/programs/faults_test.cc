// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/faults.h"

#include "trainwire/base/error.h"
#include "trainwire/programs/measure.h"
#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::programs {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

spec::Experiment read(const std::string& fault) {
  return spec::parse("[network]\nhosts = 2\n[[job]]\ncommand = [\"train\"]\n[[fault]]\n" + fault,
                     "x.toml", {.models = {}, .strategies = {"ring"}, .devices = {"a100"}});
}

std::string problem(const std::string& fault, lab::Launcher launcher) {
  const spec::Experiment experiment = read(fault);
  try {
    FaultPlayer(experiment, request_of(experiment, {.launcher = launcher}));
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(FaultPlayer, RefusesWhatItCannotPlay) {
  EXPECT_EQ(problem("kind = \"stop\"\nrank = 1\nat = \"1s\"\nfor = \"1s\"\n", lab::Launcher::Each),
            "");
  EXPECT_EQ(problem("kind = \"link-down\"\nlink = \"host0\"\nat = \"1s\"\n", lab::Launcher::Mpi),
            "");
  EXPECT_THAT(problem("kind = \"kill\"\nrank = 1\nat = \"1s\"\n", lab::Launcher::Mpi),
              HasSubstr("started by mpirun"));
}

// Steps of 1 s; the third takes 4 s while the fault goes on.
TEST(DescribedFaults, TellWhatMarkedStepsTookLonger) {
  imports::StepLog log;
  for (const auto& [begin, end] : {std::pair{10, 11}, {11, 12}, {12, 16}, {16, 17}}) {
    log.steps.push_back({.rank = 0,
                         .step = std::ssize(log.steps),
                         .start_ns = begin * kSecond,
                         .end_ns = end * kSecond});
  }
  PlayedFault fault{.where = "rank 1 of job0"};
  fault.fault.kind = {spec::FaultKind::Stop};
  fault.begin = Duration(12 * kSecond + kSecond / 2);
  fault.end = Duration(15 * kSecond);
  const auto faults =
      described(std::vector{fault}, 8 * kSecond, std::vector<summarise::KnownJob>{{.log = log}});
  ASSERT_EQ(faults.size(), 1);
  EXPECT_EQ(faults[0].kind, "stop");
  EXPECT_NEAR(*faults[0].begin_s, 4.5, 1e-9);
  ASSERT_EQ(faults[0].costs.size(), 1);
  EXPECT_NEAR(faults[0].costs[0].usual_s, 1, 1e-9);
  EXPECT_NEAR(faults[0].costs[0].cost_s, 3, 1e-9);
  EXPECT_EQ(faults[0].costs[0].steps, 1);
}

TEST(FaultCheck, NamesTheFaultThatNeverCame) {
  PlayedFault fault{.where = "rank 1 of job0"};
  fault.fault.step = {12};
  EXPECT_FALSE(fault_check(std::vector{fault}).ok);
  EXPECT_THAT(fault_check(std::vector{fault}).text, HasSubstr("step 12 never came"));
  fault.begin = Duration(1);
  EXPECT_TRUE(fault_check(std::vector{fault}).ok);
}

}  // namespace
}  // namespace tw::programs
