// SPDX-License-Identifier: Apache-2.0
#include "trainwire/keys/problem.h"

#include <gtest/gtest.h>

#include <array>

namespace tw::keys {
namespace {

TEST(Message, FollowsTheFileThenTheCommandLine) {
  const std::vector<Problem> problems{{{.line = 1, .set = 0}, "run.seed", "bad"},
                                      {{.line = 9}, "b", "second"},
                                      {{.line = 2}, "a", "first"}};
  const std::vector<std::string> sets{"run.seed=x"};
  EXPECT_EQ(message(problems, "f", sets),
            "f:2: a: first\nf:9: b: second\n--set run.seed=x: bad\n3 problems in f");
}

TEST(Message, OfOneProblemIsOneLine) {
  const std::vector<Problem> problems{{{.line = 2}, "a", "wrong"}};
  EXPECT_EQ(message(problems, "f", {}), "f:2: a: wrong");
}

TEST(Message, TellsOnceWhatOneOptionBrokeInSeveralJobs) {
  const std::vector<Problem> problems{{{.set = 0}, "job.0.model", "bad"},
                                      {{.set = 0}, "job.1.model", "bad"}};
  EXPECT_EQ(message(problems, "f", std::vector<std::string>{"job.model=x"}),
            "--set job.model=x: bad");
}

TEST(Remedy, NamesTheNearestElseAllElseWhereTheyAre) {
  constexpr std::array<std::string_view, 2> kFew{"ring", "star"};
  EXPECT_EQ(remedy("rign", kFew, "there"), "did you mean \"ring\"?");
  EXPECT_EQ(remedy("quicksort", kFew, "there"), "known: ring, star");
  const std::vector<std::string_view> many(13, "abcdefgh");
  EXPECT_EQ(remedy("quicksort", many, "there"), "there lists them");
}

TEST(Quoted, EscapesAndShortens) {
  EXPECT_EQ(keys::in_quotes("a\nb"), "\"a\\u000Ab\"");
  EXPECT_EQ(keys::in_quotes(std::string(100, 'x')), "\"" + std::string(60, 'x') + "...\"");
  // 59 letters, then a character of two bytes across the limit: it is left out whole.
  EXPECT_EQ(keys::in_quotes(std::string(59, 'x') + "\xc3\xa4zz"),
            "\"" + std::string(59, 'x') + "...\"");
}

}  // namespace
}  // namespace tw::keys
