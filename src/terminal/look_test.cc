// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/look.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tw::terminal {
namespace {

TEST(Fitted, GoesOnBelowTheTextOfALine) {
  EXPECT_EQ(fitted("  1  the link from host0 to host1 is slow, and every host waits for it",
                   {.width = 40}),
            "  1  the link from host0 to host1 is\n"
            "     slow, and every host waits for it");
  EXPECT_EQ(fitted("  ok    clock    the machine's clock was not set meanwhile", {.width = 60}),
            "  ok    clock    the machine's clock was not set meanwhile");
  EXPECT_EQ(fitted("  ok    clock    the machine's clock was not set meanwhile", {.width = 52}),
            "  ok    clock    the machine's clock was not set\n"
            "                 meanwhile");
}

TEST(Fitted, LosesNothing) {
  const std::string line = "a line of several words that is longer than the terminal is wide";
  for (std::size_t width = 0; width < 80; ++width) {
    std::string text = fitted(line, {.width = width});
    for (char& c : text) c = c == '\n' ? ' ' : c;
    EXPECT_EQ(text, line) << width;
  }
}

TEST(Fitted, LeavesRowsOfTablesWhole) {
  const std::string row = "network.loss=0.001   255.1 ms   250.0 ms, 260.1 ms   120.1 Mbit/s   ok";
  EXPECT_EQ(fitted(row, {.width = 40}), row);
}

TEST(Fitted, ColoursTheMarkAndNothingElse) {
  const Look look{.colour = true};
  EXPECT_EQ(fitted("  FAIL  clock    ok  no", look), "  \x1b[1;31mFAIL\x1b[0m  clock    ok  no");
  EXPECT_EQ(fitted("  ok    clock", look), "  \x1b[32mok\x1b[0m    clock");
  EXPECT_EQ(fitted("loss=1  2 s   not ok", look), "loss=1  2 s   \x1b[1;31mnot ok\x1b[0m");
  EXPECT_EQ(fitted("everything is ok", look), "everything is ok");
}

TEST(FittedStream, FitsLineByLineAndKeepsWhatIsUnfinished) {
  std::ostringstream to;
  FittedStream stream(to, {.width = 0, .colour = true});
  stream << "  ok    a"
         << "\nrest";
  EXPECT_EQ(to.str(), "  \x1b[32mok\x1b[0m    a\n");
  stream.flush();
  EXPECT_THAT(to.str(), testing::EndsWith("\nrest"));
}

TEST(FittedStream, FailsWithItsTarget) {
  std::ostringstream to;
  to.setstate(std::ios::badbit);
  FittedStream stream(to, {.colour = true});
  stream << "a\n";
  EXPECT_FALSE(stream);
}

TEST(LookOf, IsNothingForWhatIsNoTerminal) {
  std::ostringstream out;
  EXPECT_TRUE(look_of(out).changes_nothing());
}

}  // namespace
}  // namespace tw::terminal
