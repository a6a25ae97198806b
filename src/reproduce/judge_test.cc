// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/judge.h"

#include "trainwire/base/error.h"
#include "trainwire/reproduce/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::reproduce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Artefact artefact_with(const std::string& row) {
  return parse_artefact(R"(id = "X-F1"
kind = "figure"
what = "steps"

[[compute]]
name = "step"
engine = "flow"
experiment = "ring.toml"
vary = { "network.loss" = [0, 0.01] }
metric = "jobs.0.step.median_s"

[[row]]
what = "slowdown"
)" + row,
                        "x/fig-1");
}

/// Steps of 1 s and 2 s.
Answers answers_of(const Artefact& artefact) {
  Answers answers;
  double step = 1;
  for (const Question& question : questions_of(artefact, {})) {
    answers[question.key()].document = nlohmann::ordered_json::parse(fmt::format(
        R"({{"jobs": [{{"step": {{"median_s": {}, "ci_low_s": {}, "ci_high_s": {}}}}}]}})", step,
        step - 0.1, step + 0.1));
    step += 1;
  }
  return answers;
}

Judged judged(const std::string& row) {
  const Artefact artefact = artefact_with(row);
  return judge(artefact, {}, answers_of(artefact)).judged.at(0);
}

TEST(Judge, ReproducesWhatIsInsideTheTolerance) {
  const Judged one = judged(
      "published = 2.1\nours = \"at(step, 1) / at(step, 0)\"\ntolerance = 0.1\nbecause = \"so\"\n");
  EXPECT_EQ(one.verdict, Verdict::Reproduced);
  EXPECT_EQ(one.engine, "flow");
  EXPECT_DOUBLE_EQ(*one.value, 2);
}

TEST(Judge, KeepsToABound) {
  const std::string row = "ours = \"at(step, 1)\"\nbecause = \"so\"\n";
  EXPECT_EQ(judged(row + "published = 1\nbound = \"at least\"\n").verdict, Verdict::Reproduced);
  EXPECT_EQ(judged(row + "published = 1\nbound = \"at most\"\n").verdict, Verdict::NotDetermined);
}

TEST(Judge, NamesFittedValues) {
  const Judged one = judged(
      "published = 2\nours = \"at(step, 1)\"\ntolerance = 0.1\nbecause = \"so\"\nfitted = "
      "[\"compute\"]\n");
  EXPECT_EQ(one.verdict, Verdict::Fitted);
  EXPECT_THAT(one.fitted, ElementsAre("compute"));
}

TEST(Judge, TellsShapeFromContradiction) {
  const std::string off =
      "published = 8\nours = \"at(step, 1)\"\ntolerance = 0.1\nbecause = \"so\"\nargument = "
      "\"why\"\n";
  EXPECT_EQ(judged(off + "shape = \"rising(step)\"\n").verdict, Verdict::Shape);
  EXPECT_EQ(judged(off + "refutes = \"at(step, 1) < 4\"\n").verdict, Verdict::Contradicted);
  EXPECT_EQ(judged(off + "refutes = \"at(step, 1) > 4\"\n").verdict, Verdict::NotDetermined);
}

TEST(Judge, DoesNotContradictWithoutAnArgument) {
  EXPECT_THROW(artefact_with("published = 8\nours = \"at(step, 1)\"\ntolerance = 0.1\nbecause = "
                             "\"so\"\nrefutes = \"at(step, 1) < 4\"\n"),
               SpecError);
}

TEST(Judge, SaysWhatIsMissing) {
  const Judged one = judged("published = 0.8\nmissing = \"real training\"\n");
  EXPECT_EQ(one.verdict, Verdict::NotDetermined);
  EXPECT_EQ(one.reason, "real training");
}

TEST(Judge, HasTheIntervalOfAMedian) {
  const Artefact artefact = artefact_with(
      "each = [\"none\", \"1 %\"]\npublished = [1, 2]\nours = \"step\"\ntolerance = 0.1\nbecause = "
      "\"so\"\n");
  const Outcome outcome = judge(artefact, {}, answers_of(artefact));
  ASSERT_THAT(outcome.judged, SizeIs(2));
  EXPECT_DOUBLE_EQ(*outcome.judged[1].low, 1.9);
  EXPECT_DOUBLE_EQ(*outcome.judged[1].high, 2.1);
  EXPECT_THAT(csv_of({&outcome, 1}), HasSubstr("slowdown: 1 %,2,,,2,1.9,2.1"));
}

TEST(Judge, DoesNotDetermineWhatCouldNotBeComputed) {
  const Artefact artefact = artefact_with("holds = \"rising(step)\"\n");
  Answers answers = answers_of(artefact);
  for (auto& [key, answer] : answers) answer.failure = "it does not end";
  const Outcome outcome = judge(artefact, {}, answers);
  EXPECT_EQ(outcome.verdict, Verdict::NotDetermined);
  EXPECT_EQ(outcome.reason, "it does not end");
}

TEST(Judge, AsksOnlyTheEngineThatIsWanted) {
  const Artefact artefact = artefact_with("holds = \"rising(step)\"\n");
  EXPECT_THAT(questions_of(artefact, {.only = Engine::Plan}), SizeIs(0));
  EXPECT_THAT(judge(artefact, {.only = Engine::Plan}, {}).judged, SizeIs(0));
  EXPECT_THAT(questions_of(artefact, {.only = Engine::Flow}), SizeIs(2));
}

TEST(Verdict, OfManyIsTheWorstThatWasDetermined) {
  using enum Verdict;
  EXPECT_EQ(together(std::vector{Reproduced, NotDetermined}), Reproduced);
  EXPECT_EQ(together(std::vector{Reproduced, Fitted, Contradicted}), Contradicted);
  EXPECT_EQ(together(std::vector{NotDetermined}), NotDetermined);
}

TEST(Answers, FindsNumbersOfAllItems) {
  const auto document = nlohmann::ordered_json::parse(
      R"({"jobs": [{"pairs": [{"b": 1}, {"b": 2}]}, {"pairs": [{"b": 3}]}]})");
  EXPECT_THAT(numbers_at(document, "jobs.*.pairs.*.b"), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers_at(document, "jobs.0.pairs.*.b"), ElementsAre(1, 2));
  EXPECT_THROW(numbers_at(document, "jobs.*.c"), DataError);
  EXPECT_THROW(numbers_at(document, "hosts.*.c"), DataError);
}

}  // namespace
}  // namespace tw::reproduce
