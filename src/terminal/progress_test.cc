// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/progress.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tw::terminal {
namespace {

TEST(Progress, TellsShareRateAndRest) {
  // 250 of 1000 MB in 2 s: 125 MB/s, 750 / 125 = 6 s left; a quarter of 20 blocks.
  EXPECT_EQ(progress_line(250'000'000, 1'000'000'000, 2),
            "reading  250 MB of 1000 MB  █████░░░░░░░░░░░░░░░  25 %  125 MB/s  6 s left");
}

TEST(Progress, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(progress_line(250'000'000, 0, 2), "reading  250 MB  125 MB/s");
  EXPECT_EQ(progress_line(0, 0, 0), "reading  0 B");
}

TEST(Progress, DrawsNothingUnlessShown) {
  std::ostringstream err;
  {
    Progress progress(err, false);
    progress.update(1, 2);
  }
  EXPECT_EQ(err.str(), "");
  EXPECT_FALSE(is_terminal(err));
}

}  // namespace
}  // namespace tw::terminal
