// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/expect.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace tw::command {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;

ordered_json document() {
  return {{"jobs", {{{"step", {{"bytes", 1001}}}, {"name", "a"}}}}, {"bottleneck", nullptr}};
}

spec::Expectation about_bytes(double equals) {
  return {.of = "plan", .metric = "jobs.0.step.bytes", .equals = equals};
}

TEST(LookUp, WalksKeysAndPositions) {
  EXPECT_EQ(look_up(document(), "jobs.0.step.bytes").number, 1001);
}

TEST(LookUp, SaysWhyThereIsNoNumber) {
  const auto problem = [](const char* path) {
    const Lookup found = look_up(document(), path);
    EXPECT_FALSE(found.number) << path;
    return found.problem;
  };
  EXPECT_EQ(problem("jobs.1.step.bytes"), "\"jobs\" is a list of 1");
  EXPECT_EQ(problem("jobs.x"), "\"jobs\" is a list of 1");
  EXPECT_EQ(problem("jobs.0.name"), "it is no number");
  EXPECT_EQ(problem("jobs.0.name.x"), "\"jobs.0.name\" is a value");
  EXPECT_EQ(problem("jobs.0.step"), "it is an object");
  EXPECT_EQ(problem("bottleneck.rate_bps"), "\"bottleneck\" is null");
  EXPECT_EQ(problem("jobs.0.step.byte"), "did you mean \"jobs.0.step.bytes\"?");
  EXPECT_EQ(problem("job"), "did you mean \"jobs\"?");
  EXPECT_EQ(problem("iterations"), "--json shows what there is");
  EXPECT_EQ(problem(""), "it is an object");
}

TEST(Judge, AllowsTheToleranceAndNoMore) {
  spec::Expectation expectation = about_bytes(1000);
  expectation.tolerance = 0.001;  // 1000 +- 1
  EXPECT_TRUE(judge(expectation, document()).ok);
  expectation.tolerance = 0.0009;
  EXPECT_FALSE(judge(expectation, document()).ok);
}

TEST(Judge, ComparesWithLimits) {
  spec::Expectation expectation = about_bytes(0);
  expectation.equals = {};
  expectation.at_least = 1001;
  expectation.at_most = 1001;
  EXPECT_TRUE(judge(expectation, document()).ok);
  expectation.at_least = 1002;
  expectation.at_most = {};
  EXPECT_FALSE(judge(expectation, document()).ok);
}

TEST(Judge, FailsWhereThereIsNoNumber) {
  const Judged judged = judge({.of = "plan", .metric = "bottleneck", .at_most = 5}, document());
  EXPECT_FALSE(judged.ok);
  EXPECT_FALSE(judged.found);
  EXPECT_EQ(judged.text, "bottleneck: expected at most 5, found no number there: it is null");
}

TEST(JudgeAll, LooksOnlyAtItsCommandAndAddsToTheDocument) {
  const std::vector<spec::Expectation> expectations{about_bytes(5), about_bytes(1001)};
  ordered_json other = document();
  EXPECT_THAT(judge_all(expectations, "run", other), IsEmpty());
  EXPECT_EQ(other["expectations"], ordered_json::array());
  ordered_json plan = document();
  const std::vector<Judged> judged = judge_all(expectations, "plan", plan);
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_EQ(plan["expectations"][0]["ok"], false);
  EXPECT_EQ(plan["expectations"][1]["ok"], true);
  EXPECT_EQ(plan["expectations"][0]["found"], 1001);
  EXPECT_EQ(plan["expectations"][0]["metric"], "jobs.0.step.bytes");
}

TEST(ExpectationsText, ShowsAllAndStandardErrorThoseThatFailed) {
  ordered_json plan = document();
  const std::vector<Judged> judged =
      judge_all(std::vector{about_bytes(5), about_bytes(1001)}, "plan", plan);
  const std::string text = expectations_text(judged);
  EXPECT_THAT(text, HasSubstr("  FAIL  jobs.0.step.bytes: expected 5 \u00b11%, found 1001\n"));
  EXPECT_THAT(text, HasSubstr("  ok    jobs.0.step.bytes: expected 1001"));
  std::ostringstream err;
  EXPECT_EQ(expectations_code(judged, err), 1);
  EXPECT_EQ(err.str(),
            "trainwire: NOT AS EXPECTED: jobs.0.step.bytes: expected 5 \u00b11%, found 1001\n");
  EXPECT_EQ(expectations_code(std::span(judged).subspan(1), err), 0);
  EXPECT_EQ(expectations_text({}), "");
}

}  // namespace
}  // namespace tw::command
