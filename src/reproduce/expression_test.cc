// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/expression.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace tw::reproduce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Values value(const std::string& text, const std::map<std::string, Values>& names = {}) {
  return Expression(text).evaluate(
      [&](const std::string& name) -> const Values& { return names.at(name); });
}

std::string refusal(const std::string& text) {
  try {
    const Expression expression(text);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(Expression, BindsAsInEquations) {
  EXPECT_THAT(value("2 + 3 * 4"), ElementsAre(14));
  EXPECT_THAT(value("-2 ^ 2"), ElementsAre(-4));
  EXPECT_THAT(value("2 ^ 3 ^ 2"), ElementsAre(512));
  EXPECT_THAT(value("8 / 4 / 2"), ElementsAre(1));
}

// Salamy's equation 3.1 for VGG-16 and four workers: 2 * 3/4 * 138,357,544 * 4 bytes.
TEST(Expression, WritesAPapersEquation) {
  EXPECT_THAT(value("2 * (n - 1) / n * p * 4 / 1e6", {{"n", {4}}, {"p", {138357544}}}),
              ElementsAre(::testing::DoubleNear(830.1, 0.05)));
}

TEST(Expression, GoesItemByItem) {
  EXPECT_THAT(value("step / at(step, 0)", {{"step", {2, 3, 5}}}), ElementsAre(1, 1.5, 2.5));
  EXPECT_THAT(value("larger([1, 5], 3)"), ElementsAre(3, 5));
  EXPECT_THROW(value("[1, 2] + [1, 2, 3]"), DataError);
}

TEST(Expression, HoldsOnlyForAllItems) {
  EXPECT_THAT(value("[1, 2] < 3 and rising([1, 2])"), ElementsAre(1));
  EXPECT_THAT(value("[1, 4] < 3"), ElementsAre(0));
  EXPECT_THAT(value("falling([3, 3])"), ElementsAre(0));
}

// t = 0.5 exp(2 / (25 - x)) gives back its own A and B.
TEST(Expression, FitsTheCurveItIsGiven) {
  const std::map<std::string, Values> names{
      {"x", {0, 5, 10, 15, 20}},
      {"t",
       {0.5 * std::exp(2.0 / 25), 0.5 * std::exp(2.0 / 20), 0.5 * std::exp(2.0 / 15),
        0.5 * std::exp(2.0 / 10), 0.5 * std::exp(2.0 / 5)}}};
  EXPECT_NEAR(value("fit_a(x, t, 25, 1)", names)[0], 0.5, 1e-9);
  EXPECT_NEAR(value("fit_b(x, t, 25, 1)", names)[0], 2, 1e-9);
}

TEST(Expression, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("1 +"), HasSubstr("missing at the end"));
  EXPECT_THAT(refusal("(1"), HasSubstr("\")\" is missing"));
  EXPECT_THAT(refusal("risin(x)"), HasSubstr("did you mean \"rising\"?"));
  EXPECT_THAT(refusal("at(x)"), HasSubstr("takes 2 values, not 1"));
  EXPECT_THAT(refusal(std::string(1000, '(')), HasSubstr("too many brackets"));
  EXPECT_THAT(refusal(std::string(1000, '-')), HasSubstr("too many signs"));
}

TEST(Expression, FitsNoCurveBeyondTheCapacity) {
  EXPECT_THROW(value("congestion_load([1, 2, 3, 4, 5, 6], [1, 1, 1, 1, 1, 1], 1)"), DataError);
  EXPECT_THROW(value("fit_a([1, 2, 3], [1, 0, 1], 25, 1)"), DataError);
  EXPECT_THROW(value("fit_a([1, 2, 3], [1, 2, 3], 25, 0)"), DataError);
}

TEST(Expression, IsNotTooLong) {
  std::string sum = "1";
  for (int i = 0; i < 10'000; ++i) sum += "+1";
  EXPECT_THAT(refusal(sum), HasSubstr("too long"));
}

TEST(Expression, NamesWhatItNeeds) {
  EXPECT_THAT(Expression("at(a, 1) / b + a").names(), ElementsAre("a", "b"));
}

TEST(Expression, HasNoItemBeyondItsList) { EXPECT_THROW(value("at([1, 2], 2)"), DataError); }

}  // namespace
}  // namespace tw::reproduce
