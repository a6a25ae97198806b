// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/in_time.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"

#include <gmock/gmock.h>

namespace tw::command {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

spec::Experiment with(const std::string& job) {
  return spec::parse(
      "[network]\nhosts = 2\nrate = \"1Mbit\"\n[[job]]\nparameters = \"1MB\"\n" + job, "x.toml",
      workload::vocabulary(), {});
}

// A ring of two carries 1 MB each way: 8 s a step at 1 Mbit/s, and 600 s are given.
TEST(RequireInTime, RefusesStepsThatLastLongerThanTheRun) {
  EXPECT_NO_THROW(require_in_time(with("steps = 70\n"), {}));
  EXPECT_THAT([] { require_in_time(with("steps = 80\n"), {}); },
              ThrowsMessage<SpecError>(AllOf(HasSubstr("job0: 80 steps of at least 8"),
                                             HasSubstr("--steps 20"), HasSubstr("run.timeout"))));
}

TEST(RequireInTime, OnLoopbackOnlyComputeCounts) {
  const lab::RunPlace loopback{.loopback = true};
  EXPECT_NO_THROW(require_in_time(with("steps = 80\n"), loopback));
  EXPECT_THROW(require_in_time(with("steps = 80\ncompute_time = \"10s\"\n"), loopback), SpecError);
}

}  // namespace
}  // namespace tw::command
