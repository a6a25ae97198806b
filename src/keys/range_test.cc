// SPDX-License-Identifier: Apache-2.0
#include "trainwire/keys/range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

namespace tw::keys {
namespace {

/// Its values as TOML, or what is wrong.
std::string of(std::string_view text) {
  if (!is_range(text)) return "no range";
  const Range range = expand_range(text, {.line = 3});
  std::vector<std::string> values;
  for (const Node& node : range.values) {
    EXPECT_EQ(node.place.line, 3);
    values.push_back(print(node));
  }
  return range.problem.empty() ? fmt::format("{}", fmt::join(values, " ")) : range.problem;
}

TEST(Range, OfWholeNumbersNeedsNoStep) {
  EXPECT_EQ(of("2..5"), "2 3 4 5");
  EXPECT_EQ(of(" -1 .. 1 "), "-1 0 1");
}

TEST(Range, GoesByFactors) {
  EXPECT_EQ(of("2..64 x2"), "2 4 8 16 32 64");
  EXPECT_EQ(of("1..100 x3"), "1 3 9 27 81");
  EXPECT_EQ(of("0.01%..1% x10"), "\"0.01%\" \"0.1%\" \"1%\"");
  EXPECT_EQ(of("64KiB..1MiB x4"), "\"64KiB\" \"256KiB\" \"1024KiB\"");
}

TEST(Range, GoesBySteps) {
  EXPECT_EQ(of("0..0.9 step 0.3"), "0 0.3 0.6 0.9");
  EXPECT_EQ(of("1..8 step 3"), "1 4 7");
  EXPECT_EQ(of("100Mbit..1Gbit step 300Mbit"), "\"100Mbit\" \"400Mbit\" \"700Mbit\" \"1000Mbit\"");
  EXPECT_EQ(of("1..3ms step 500us"), "\"1ms\" \"1.5ms\" \"2ms\" \"2.5ms\" \"3ms\"");
}

TEST(Range, GoesInSoMany) {
  EXPECT_EQ(of("100Mbit..1Gbit in 4"), "\"100Mbit\" \"400Mbit\" \"700Mbit\" \"1000Mbit\"");
  EXPECT_EQ(of("1..1000 in 4 log"), "1 10 100 1000");
  EXPECT_EQ(of("0..1 in 3"), "0 0.5 1");
}

TEST(Range, IsTwoNumbersAndDots) {
  for (const char* text : {"../x", "a..b", "host0", "1.5", "1..", "..2", "1..x"}) {
    EXPECT_EQ(of(text), "no range") << text;
  }
}

TEST(Range, SaysWhatIsWrong) {
  using testing::HasSubstr;
  EXPECT_THAT(of("0..1.5"), HasSubstr("say how to go on"));
  EXPECT_THAT(of("1ms..9ms"), HasSubstr("say how to go on"));
  EXPECT_THAT(of("1..9 by 2"), HasSubstr("say how to go on"));
  EXPECT_THAT(of("1..9 x1"), HasSubstr("above 1"));
  EXPECT_THAT(of("0..9 x2"), HasSubstr("above 0"));
  EXPECT_THAT(of("0..9 step 0"), HasSubstr("above 0"));
  EXPECT_THAT(of("0..9 in 1"), HasSubstr("2 to 9,999"));
  EXPECT_THAT(of("9..1"), HasSubstr("A below B"));
  EXPECT_THAT(of("1ms..1Gbit in 3"), HasSubstr("different units"));
  EXPECT_THAT(of("1ms..9 in 3"), HasSubstr("different units"));
  EXPECT_THAT(of("1..1000000"), HasSubstr("too many"));
}

}  // namespace
}  // namespace tw::keys
