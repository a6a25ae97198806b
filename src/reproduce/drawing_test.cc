// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/drawing.h"

#include "trainwire/reproduce/axis.h"
#include "trainwire/reproduce/plots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tw::reproduce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Axis, PlacesValuesBetweenItsEnds) {
  const std::vector<double> values{0, 100};
  const Axis axis(values, {.from = 0, .to = 105}, false);  // 5 % of room
  EXPECT_DOUBLE_EQ(axis.place(0), 0);
  EXPECT_DOUBLE_EQ(axis.place(100), 100);
  EXPECT_THAT(axis.marks(), ElementsAre(0, 20, 40, 60, 80, 100));
}

TEST(Axis, HasPowersOfTenForWhatIsFarApart) {
  const std::vector<double> values{1, 1000};
  EXPECT_TRUE(wants_log(values));
  const Axis axis(values, {.from = 0, .to = 100}, true);
  EXPECT_NEAR(axis.place(100) - axis.place(10), axis.place(10) - axis.place(1), 1e-9);
  EXPECT_FALSE(wants_log(std::vector<double>{0, 1000}));
}

TEST(Drawing, EscapesWordsInSvg) {
  const Drawing drawing{.width = 10, .height = 10, .words = {{.x = 1, .y = 1, .text = "a<b & c"}}};
  EXPECT_THAT(svg_of(drawing), HasSubstr(">a&lt;b &amp; c</text>"));
}

// The table of a PDF's objects has to say where each begins.
TEST(Drawing, IsAPdfWhoseTableIsRight) {
  const std::string pdf = pdf_of({.width = 10,
                                  .height = 10,
                                  .lines = {{.points = {{0, 0}, {5, 5}}}},
                                  .words = {{.x = 1, .y = 1, .text = "(x) \xC3\xA9"}}});
  EXPECT_THAT(pdf, StartsWith("%PDF-1.4\n"));
  EXPECT_THAT(pdf, HasSubstr("(\\(x\\) \\351) Tj"));
  const std::size_t table = pdf.find("xref\n");
  const std::string first = pdf.substr(pdf.find("65535 f \n", table) + 9, 10);
  EXPECT_EQ(pdf.substr(std::stoul(first), 7), "1 0 obj");
}

/// A number that is published as `published`, and ours the same.
Outcome outcome_with(const std::vector<double>& published) {
  Outcome outcome{.artefact = {}, .reason = {}};
  for (const double value : published) {
    outcome.judged.push_back(
        {.what = "n", .place = {}, .published = value, .value = value, .unit = "s", .engine = {}});
  }
  return outcome;
}

TEST(Plots, NeverDrawPublishedAndOursOverEachOther) {
  const auto drawing = drawing_of(outcome_with({1, 1, 5}));
  ASSERT_TRUE(drawing);
  for (const Spot& a : drawing->spots) {
    for (const Spot& b : drawing->spots) {
      if (&a == &b) continue;
      EXPECT_GE(std::hypot(a.x - b.x, a.y - b.y), 8) << "marks of 4 points each way";
    }
  }
}

// Curves may meet: there published points are rings with room for a diamond.
TEST(Plots, DrawPublishedPointsOfCurvesAroundOurs) {
  Outcome outcome{.artefact = {}, .reason = {}};
  outcome.curves = {{.name = "a", .is_published = true, .x = {1, 2}, .y = {3, 4}},
                    {.name = "b", .x = {1, 2}, .y = {3, 4}}};
  const auto drawing = drawing_of(outcome);
  ASSERT_TRUE(drawing);
  ASSERT_EQ(drawing->spots.size(), 4u);
  EXPECT_EQ(drawing->spots[0].mark, Mark::Ring);
  EXPECT_EQ(drawing->spots[2].mark, Mark::Diamond);
  EXPECT_THAT(svg_of(*drawing), HasSubstr("r=\"8\" fill=\"none\""));
  EXPECT_THAT(pdf_of(*drawing), HasSubstr("l\ns\n"));
}

TEST(Plots, NameWhatAllNumbersHaveInCommonOnce) {
  Outcome outcome = outcome_with({1, 2});
  outcome.judged[0].what = "size: a";
  outcome.judged[1].what = "size: b";
  const std::string svg = svg_of(*drawing_of(outcome));
  EXPECT_THAT(svg, HasSubstr(">a</text>"));
  EXPECT_THAT(svg, HasSubstr(">size: s</text>"));
}

TEST(Plots, DrawNothingWithoutNumbers) { EXPECT_FALSE(drawing_of(outcome_with({}))); }

}  // namespace
}  // namespace tw::reproduce
