// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/status.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tw::terminal {
namespace {

using std::chrono::seconds;

TEST(Status, LogsALineEveryTenSecondsWhereThereIsNoTerminal) {
  std::ostringstream err;
  EXPECT_EQ(shown_on(err, false), Shown::Log);
  Status status(err, Shown::Log);
  const auto start = Status::Clock::now();
  for (int s = 0; s <= 25; ++s) status.tell(std::to_string(s), start + seconds(s));
  // The status began a moment before `start`, so 10 s after that is the first due.
  EXPECT_EQ(err.str(), "10\n20\n");
}

TEST(Status, ShowsNothingWhenQuiet) {
  std::ostringstream err;
  EXPECT_EQ(shown_on(err, true), Shown::Nothing);
  Status status(err, Shown::Nothing);
  status.tell("x", Status::Clock::now() + seconds(60));
  status.wipe();
  EXPECT_EQ(err.str(), "");
}

TEST(InWords, SpeaksAsPeopleDo) {
  EXPECT_EQ(in_words(seconds(8)), "8 s");
  EXPECT_EQ(in_words(seconds(66)), "1 min 6 s");
  EXPECT_EQ(in_words(seconds(7500)), "2 h 5 min");
  EXPECT_EQ(in_words(seconds(1109382)), "12 d 20 h");
  EXPECT_EQ(in_words(std::chrono::duration<double>(59.7)), "1 min 0 s");
}

}  // namespace
}  // namespace tw::terminal
