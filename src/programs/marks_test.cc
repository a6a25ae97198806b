// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/marks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tw::programs {
namespace {

TEST(Marks, OfEachJobAreApart) {
  std::string folder = testing::TempDir() + "marksXXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const lab::LaunchRequest a{.job = 0, .name = "a", .placement = {0, 1}, .marks_folder = folder};
  const lab::LaunchRequest b{.job = 1, .name = "b", .placement = {0}, .marks_folder = folder};
  std::ofstream(folder + "/job0-marks-0.csv")
      << "rank,step,start,end\n0,0,100.0,101.0\n0,1,101.0,104.0\n0,2,104.0,106.0\n";
  std::ofstream(folder + "/job0-marks-1.csv") << "1,0,100.0,101.5\n";
  record::MarkedSteps steps;
  add_marked(a, read_marks(a), steps);
  EXPECT_FALSE(read_marks(b));
  add_marked(b, read_marks(b), steps);
  ASSERT_EQ(steps.per_rank.size(), 2);
  EXPECT_EQ(steps.per_rank[0].job, "a");
  EXPECT_EQ(steps.per_rank[0].count, 3);
  // 1, 3 and 2 s.
  EXPECT_NEAR(steps.per_rank[0].median_s, 2, 1e-6);
  EXPECT_EQ(steps.per_rank[1].rank, 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tw::programs
