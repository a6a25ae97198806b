// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/expect.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tw::cli {
namespace {

const nlohmann::ordered_json kDocument{{"jobs", {{{"step", {{"bytes", 1001}}}, {"name", "a"}}}}};

spec::Expectation about_bytes() { return {.of = "plan", .metric = "jobs.0.step.bytes"}; }

TEST(Metric, WalksKeysAndPositions) { EXPECT_EQ(metric(kDocument, "jobs.0.step.bytes"), 1001); }

TEST(Metric, RefusesAPathWithoutANumber) {
  for (const char* path : {"jobs.1.step.bytes", "jobs.0.name", "jobs.x", "", "jobs.0.step"}) {
    EXPECT_THROW(metric(kDocument, path), SpecError) << path;
  }
}

TEST(Judge, AllowsTheToleranceAndNoMore) {
  spec::Expectation expectation = about_bytes();
  expectation.equals = 1000;
  expectation.tolerance = 0.001;  // 1000 +- 1
  EXPECT_TRUE(judge(expectation, kDocument).ok);
  expectation.tolerance = 0.0009;
  EXPECT_FALSE(judge(expectation, kDocument).ok);
}

TEST(Judge, ComparesWithLimits) {
  spec::Expectation expectation = about_bytes();
  expectation.at_least = 1001;
  expectation.at_most = 1001;
  EXPECT_TRUE(judge(expectation, kDocument).ok);
  expectation.at_least = 1002;
  expectation.at_most = {};
  EXPECT_FALSE(judge(expectation, kDocument).ok);
}

TEST(JudgeAll, LooksOnlyAtItsCommandAndFailsWithOne) {
  spec::Expectation wrong = about_bytes();
  wrong.equals = 5;
  std::ostringstream err;
  const std::vector<spec::Expectation> expectations{wrong};
  EXPECT_EQ(judge_all(expectations, "run", kDocument, err), 0);
  EXPECT_EQ(err.str(), "");
  EXPECT_EQ(judge_all(expectations, "plan", kDocument, err), 1);
  EXPECT_THAT(err.str(), testing::HasSubstr("NOT AS EXPECTED"));
}

}  // namespace
}  // namespace tw::cli
