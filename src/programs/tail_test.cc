// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/tail.h"

#include "trainwire/programs/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tw::programs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tail, GivesWholeLinesOnce) {
  const std::string path = testing::TempDir() + "tail_test.txt";
  std::filesystem::remove(path);
  Tail tail(path);
  EXPECT_THAT(tail.look(), IsEmpty());
  std::ofstream file(path, std::ios::app);
  file << "step 1\nste" << std::flush;
  EXPECT_THAT(tail.look(), ElementsAre("step 1"));
  EXPECT_THAT(tail.look(), IsEmpty());
  file << "p 2\n 10 %\r 50 %\r100 %\r\n" << std::flush;
  EXPECT_THAT(tail.look(), ElementsAre("step 2", "100 %"));
  std::filesystem::remove(path);
}

TEST(Tail, CutsALineThatNeverEnds) {
  const std::string path = testing::TempDir() + "tail_test_long.txt";
  std::ofstream(path) << std::string(10'000, 'x');
  Tail tail(path);
  EXPECT_EQ(tail.look().size(), 1);
  std::filesystem::remove(path);
}

TEST(ShownLine, HasClockRateAndJob) {
  EXPECT_EQ(shown_line(12.42, 1.88e9, "", "loss 2.3"), "   12.4 s   1.88 Gbit/s  | loss 2.3");
  EXPECT_EQ(shown_line(3, 0, "big", "x"), "    3.0 s       0 bit/s  big | x");
}

}  // namespace
}  // namespace tw::programs
