// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/artefact.h"

#include "trainwire/base/error.h"
#include "trainwire/reproduce/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::reproduce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kWhole = R"(id = "X-T1"
kind = "table"
what = "bytes of a ring"
place = "Table 1"

[[compute]]
name = "sent"
engine = "plan"
experiment = "ring.toml"
vary = { "network.hosts" = [2, 4], "job.batch" = [8, 16] }
metric = "jobs.0.step.rank_sent_bytes"

[[row]]
what = "sent"
each = ["two", "four"]
published = [1, 1.5]
unit = "M"
ours = "sent / 1e6"
tolerance = ["5%", 0.1]
because = "printed so"
)";

std::string refusal(const std::string& text) {
  try {
    parse_artefact(text, "reproductions/x/table-1");
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

std::string with(std::string from, const std::string& to) {
  std::string text = kWhole;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Artefact, IsReadFromItsFile) {
  const Artefact artefact = parse_artefact(kWhole, "reproductions/x/table-1");
  EXPECT_EQ(artefact.name, "x/table-1");
  EXPECT_EQ(artefact.paper, "x");
  EXPECT_THAT(artefact.computes[0].settings(1), ElementsAre("network.hosts=4", "job.batch=16"));
  EXPECT_EQ(artefact.computes[0].experiment, "reproductions/x/table-1/ring.toml");
  EXPECT_DOUBLE_EQ(artefact.rows[0].tolerance[0].of(2), 0.1);
  EXPECT_DOUBLE_EQ(artefact.rows[0].tolerance[1].of(2), 0.1);
}

TEST(Artefact, SaysFileLineAndRemedyOfWhatIsWrong) {
  EXPECT_EQ(refusal(with("engine = \"plan\"", "engine = \"plann\"")),
            "reproductions/x/table-1/artefact.toml:8: compute.engine: write plan, predict, flow, "
            "packet, analyze or run");
  EXPECT_THAT(refusal(with("ours = \"sent / 1e6\"", "ours = \"sen / 1e6\"")),
              HasSubstr("nothing is named \"sen\"; did you mean \"sent\"?"));
  EXPECT_THAT(
      refusal(with("tolerance", "tolerence")),
      HasSubstr("artefact.toml:19: row.tolerence: unknown key; did you mean \"tolerance\"?"));
  EXPECT_THAT(refusal(with("each = [\"two\", \"four\"]", "")),
              HasSubstr("row.each: give a name for each of 2 numbers"));
  EXPECT_THAT(refusal(with("because = \"printed so\"", "")), HasSubstr("row.because"));
  EXPECT_THAT(refusal(with("kind = \"table\"", "kind = \"tabel\"")),
              HasSubstr("artefact.toml:2: kind: did you mean \"table\"?"));
  EXPECT_THAT(refusal(with("because", "bound = \"at most\"\nbecause")),
              HasSubstr("a bound has none; leave it out"));
  EXPECT_THAT(refusal(with("[8, 16]", "[8]")), HasSubstr("give each as many values"));
  EXPECT_THAT(refusal("id = "), HasSubstr("artefact.toml:1"));
}

TEST(Artefact, MustSaySomething) {
  EXPECT_THAT(refusal("id = \"a\"\nkind = \"claim\"\nwhat = \"b\"\n"),
              HasSubstr("add [[row]] with what was published"));
}

TEST(Artefact, MayHaveAClaimThatCannotBeComputed) {
  const Artefact artefact = parse_artefact(
      "id = \"X\"\nkind = \"figure\"\nwhat = \"w\"\n[[row]]\nwhat = \"a tail\"\nmissing = "
      "\"rates\"\n",
      "reproductions/x/y");
  ASSERT_EQ(artefact.rows.size(), 1u);
  EXPECT_EQ(artefact.rows[0].missing, "rates");
}

TEST(Artefact, WithoutItsExperimentIsBroken) {
  EXPECT_THROW(read_artefact("/nonexistent"), SystemError);
}

Outcome outcome_of(Verdict verdict) {
  Outcome outcome{.artefact = parse_artefact(kWhole, "reproductions/x/table-1"), .reason = {}};
  outcome.judged.push_back({.what = "sent: two",
                            .place = {},
                            .published = 1,
                            .value = 1.2,
                            .unit = "M",
                            .engine = "plan",
                            .verdict = verdict});
  outcome.verdict = verdict;
  return outcome;
}

TEST(Recorded, TellsWhatIsWorseThanItWas) {
  const Recorded before{.verdict = Verdict::Reproduced,
                        .rows = {{"sent: two", Verdict::Reproduced}}};
  EXPECT_THAT(worse(outcome_of(Verdict::Reproduced), before), ElementsAre());
  EXPECT_THAT(
      worse(outcome_of(Verdict::Shape), before),
      ElementsAre("X-T1: sent: two: was reproduced, is shape only (published 1, now 1.2 M)"));
}

TEST(Recorded, IsNotWorseWhenBetter) {
  const Recorded before{.verdict = Verdict::Shape, .rows = {{"sent: two", Verdict::Shape}}};
  EXPECT_THAT(worse(outcome_of(Verdict::Fitted), before), ElementsAre());
}

// As many rows, but others: one engine was asked where another's verdicts are recorded.
TEST(Recorded, HoldsNothingAgainstOtherRows) {
  const Recorded before{.verdict = Verdict::Reproduced,
                        .rows = {{"sent: one", Verdict::Reproduced}}};
  EXPECT_THAT(worse(outcome_of(Verdict::NotDetermined), before), ElementsAre());
}

TEST(Recorded, KeepsRowsThatWereNotAskedForNow) {
  Outcome outcome;
  for (const char* what : {"bytes", "with real packets"}) {
    outcome.artefact.rows.emplace_back().what = what;
  }
  outcome.judged.emplace_back().what = "bytes";
  const Recorded before{.rows = {{"bytes", Verdict::Reproduced},
                                 {"with real packets: ring", Verdict::Reproduced},
                                 {"of an earlier artefact", Verdict::Reproduced}}};
  const std::string text = recorded_text(outcome, before);
  EXPECT_THAT(text, HasSubstr("\"bytes\" = \"not determined\"\n"));
  EXPECT_THAT(text, HasSubstr("\"with real packets: ring\" = \"reproduced\"\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("earlier")));
}

}  // namespace
}  // namespace tw::reproduce
