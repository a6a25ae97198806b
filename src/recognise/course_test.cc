// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/course.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tw::recognise {
namespace {

/// The likeliest by itself.
std::optional<Course> course_of(const std::vector<double>& sizes, int hosts) {
  const std::vector<Course> courses = courses_by_sizes(sizes, hosts);
  const auto best =
      std::max_element(courses.begin(), courses.end(),
                       [](const Course& a, const Course& b) { return a.prior < b.prior; });
  return best == courses.end() ? std::nullopt : std::optional(*best);
}

// Four layers of 4 and a last one of 7 that is kept: gathered 7 4 4 4 4, back 4 4 4 4 with as many
// scattered, and 7 scattered. In all 12 times 4 and twice 7: 62, of a model of 23.
TEST(CoursesBySizes, AreSizesThatComeInThrees) {
  const auto found = course_of({7, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sizes.size(), 14u);
  EXPECT_NEAR(found->model, 23.0 / 62, 1e-9);
}

TEST(CoursesBySizes, AreFoundWhereSomeFollowWithoutAPause) {
  const auto found = course_of({7, 4, 8, 4, 12, 4, 4, 8, 4, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 23.0 / 62, 1e-9);
}

TEST(CoursesBySizes, AreNotBucketsOfDifferentSizes) {
  EXPECT_FALSE(course_of({1, 25, 25.8, 26.9, 11, 13}, 4));
}

TEST(CoursesBySizes, AreNotTheRoundsOfTwoBuckets) {
  // Six rounds of each of two buckets, in a ring of four.
  EXPECT_FALSE(course_of({2, 2, 2, 2, 2, 2, 5, 5, 5, 5, 5, 5}, 4));
}

TEST(CoursesBySizes, AreNotBucketsOfWhichSomeAreAlike) {
  EXPECT_FALSE(course_of({4, 4, 4, 7, 7}, 4));
  EXPECT_FALSE(course_of({4, 4, 4, 7, 7}, 2));
}

TEST(CoursesBySizes, AreToldFromRoundsWhereBothComeInThrees) {
  // In a ring of four, with a head that is not kept.
  const auto found = course_of({7, 4, 4, 4, 4, 4, 4, 7, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 1.0 / 3, 1e-9);
}

TEST(CoursesBySizes, MayHaveAHeadOfAWholeNumberOfLayers) {
  for (const double head : {8.0, 12.0}) {
    const auto found = course_of({head, 4, 4, 4, 4, 4, 4, head, head}, 5);
    ASSERT_TRUE(found) << head;
    EXPECT_EQ(found->sizes.size(), 9u);
    EXPECT_NEAR(found->model, 1.0 / 3, 1e-9);
  }
}

TEST(CoursesBySizes, AreFoundBetweenTwoHosts) {
  const auto found = course_of({7, 4, 4, 4, 4, 4, 4, 7}, 2);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 15.0 / 38, 1e-9);
  // Two rounds of each of three buckets.
  EXPECT_FALSE(course_of({4, 4, 7, 7, 4, 4}, 2));
}

// Of a head that is gathered again before the layers, as a root that is not kept.
TEST(CoursesBySizes, MayGatherTheHeadFirstOnTheWayBack) {
  const auto found = course_of({7, 4, 4, 7, 4, 4, 4, 4, 7}, 6);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 1.0 / 3, 1e-9);
}

TEST(CoursesBySizes, MayBeKeptAfterTheWayForwards) {
  const auto found = course_of({7, 4, 4, 4, 4, 4, 4, 4, 4, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 0.5, 1e-9);
}

// Tensors of three layers, each a bucket, between those of an embedding and a head: sizes in threes
// that do not come back in the reverse order.
TEST(CoursesBySizes, AreNotTheBucketsOfThreeLayers) {
  EXPECT_FALSE(course_of({4, 4, 4, 3, 1, 4, 4, 3, 1, 4, 4, 3, 1, 4}, 4));
}

TEST(CoursesBySizes, AreNotEqualPartsAlone) { EXPECT_FALSE(course_of({3, 3, 3, 3, 3, 3}, 5)); }

// Whoever knows the size of a layer finds its step among all that may be.
TEST(CoursesOfLayers, HoldWhatFrameworksDo) {
  const double all = 3 * 5.3 + 9 * 2;
  const std::vector<Course> courses = courses_of_layers(2 / all);
  const std::vector<double> expected{5.3, 2, 2, 2, 5.3, 2, 2, 2, 2, 2, 2, 5.3};
  const auto is_expected = [&](const Course& course) {
    return std::equal(course.sizes.begin(), course.sizes.end(), expected.begin(), expected.end(),
                      [&](double a, double b) { return std::abs(a - b / all) < 1e-9; });
  };
  const auto found = std::find_if(courses.begin(), courses.end(), is_expected);
  ASSERT_NE(found, courses.end());
  EXPECT_NEAR(found->model, 1.0 / 3, 1e-9);
  EXPECT_NEAR(found->ends().back(), 1 - 5.3 / all, 1e-9);
  // The root and the last layer are gathered before the first gradients are there.
  EXPECT_EQ(found->waits, (std::vector<std::size_t>{4, 6, 8, 10, 11}));
}

TEST(RoundsInPieces, EndWhereEachRoundDoes) {
  const std::vector<double> ends = rounds_in_pieces(2, 0.2).ends();
  const std::vector<double> expected{0.2, 0.4, 0.5, 0.7, 0.9};
  ASSERT_EQ(ends.size(), expected.size());
  for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_NEAR(ends[i], expected[i], 1e-9);
}

TEST(PiecesThrough, GoBothWaysFromAPlace) {
  const std::vector<double> ends = pieces_through(0.5, 0.2).ends();
  const std::vector<double> expected{0.1, 0.3, 0.5, 0.7, 0.9};
  ASSERT_EQ(ends.size(), expected.size());
  for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_NEAR(ends[i], expected[i], 1e-9);
}

}  // namespace
}  // namespace tw::recognise
