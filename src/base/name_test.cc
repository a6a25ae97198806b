// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/name.h"

#include <gmock/gmock.h>

namespace tw {
namespace {

using namespace std::string_literals;

TEST(NameProblem, HonestNamesHaveNone) {
  for (const std::string& name :
       {"job0"s, "ResNet-50, PairAvg"s, "e: clique (KungFu)"s, "größer"s, std::string(120, 'a')}) {
    EXPECT_EQ(name_problem(name), "") << name;
  }
}

TEST(NameProblem, SaysWhatNoNameNeeds) {
  for (const std::string& name :
       {""s, std::string(121, 'a'), "a\nb"s, "a\0b"s, "\x1b[2J"s, "\xff"s, "../../OUT"s, "a\\b"s,
        "."s, ".."s, "=1+1"s, "+1"s, "-1"s, "@SUM(1)"s, "\t=1"s}) {
    EXPECT_NE(name_problem(name), "") << name;
  }
}

TEST(IsFormula, NumbersAreNone) {
  for (const char* text : {"", "a", "a=b", "-", "+", "-3", "+0.5", "-1e-9", "-2%", "3"}) {
    EXPECT_FALSE(is_formula(text)) << text;
  }
  for (const char* text : {"=1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "--1", "-x", "-3ms", "=\n"}) {
    EXPECT_TRUE(is_formula(text)) << text;
  }
}

}  // namespace
}  // namespace tw
