// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figure.h"

#include <gmock/gmock.h>

#include <string>

namespace tw::figures {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing::Not;

TEST(Figure, KeepsTextInsideItsQuotes) {
  EXPECT_EQ(gnuplot_text("it's `id` @x \"y\" \\"), "'it''s `id` @x \"y\" \\'");
  EXPECT_EQ(gnuplot_text("a\nsystem('id')\r\x1b\0"s), "'a system(''id'')  \ufffd'");
  EXPECT_EQ(gnuplot_text("\xff"), "'\ufffd'");
  EXPECT_EQ(gnuplot_text(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Figure, HasNoFormatsInLabelsOfTics) { EXPECT_EQ(gnuplot_tic("50%d"), "'50%%d'"); }

TEST(Figure, HasNoQuotesInsideFieldsOfItsData) {
  EXPECT_EQ(csv_text("a \"b\",\nc"), "\"a 'b', c\"");
}

TEST(Figure, DrawsOnceForPrintAndOnceForTheScreen) {
  const std::string script = script_of({.name = "x", .sentence = "X.", .plots = {"sin(x)", "x"}});
  EXPECT_THAT(script, HasSubstr("plot sin(x), \\\n     x\n"));
  EXPECT_THAT(script, HasSubstr("pdfcairo noenhanced"));
  EXPECT_THAT(script, HasSubstr("svg noenhanced"));
  EXPECT_THAT(script, HasSubstr("unset key"));
}

TEST(Figure, PutsAsManyTitlesBesideEachOtherAsFit) {
  // Of 52 characters: 52 / (6 + 6) = 4 short titles, one of 40.
  EXPECT_THAT(script_of({.name = "x", .sentence = "", .titles = std::vector(5, "title "s)}),
              HasSubstr("maxcols 4"));
  EXPECT_THAT(script_of({.name = "x", .sentence = "", .titles = {std::string(40, 'x'), "y"}}),
              HasSubstr("maxcols 1"));
}

TEST(Cdf, RisesFromNothingToAll) {
  const auto points = cdf({3, 1, 2}, 0);
  ASSERT_EQ(points.size(), 4);
  EXPECT_EQ(points[0].value, 1);
  EXPECT_EQ(points[0].share, 0);
  EXPECT_DOUBLE_EQ(points[1].share, 1.0 / 3);
  EXPECT_EQ(points[3].value, 3);
  EXPECT_EQ(points[3].share, 1);
}

TEST(Cdf, StaysBelowOneWhereFlowsNeverEnded) { EXPECT_EQ(cdf({1, 2, 3}, 1).back().share, 0.75); }

TEST(Cdf, KeepsFirstAndLastOfManyValues) {
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) values.push_back(i);
  const auto points = cdf(values, 0, 100);
  EXPECT_EQ(points.size(), 101);
  EXPECT_EQ(points.front().value, 0);
  EXPECT_EQ(points.back().value, 9999);
  EXPECT_EQ(points.back().share, 1);
}

}  // namespace
}  // namespace tw::figures
