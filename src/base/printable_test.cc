// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/printable.h"

#include <gmock/gmock.h>

namespace tw {
namespace {

using testing::ElementsAre;

TEST(Printable, TerminalsAreGivenNothingToObey) {
  EXPECT_EQ(printable("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // U+009B: control sequence introducer
}

TEST(Printable, VisibleTextIsKept) {
  EXPECT_EQ(printable("rank 3 → käse 漢 🚂"), "rank 3 → käse 漢 🚂");
}

TEST(Printable, WhatIsNoUtf8IsShown) {
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");           // cut off
}

TEST(Cut, CountsCharactersAndShowsThatSomethingIsMissing) {
  EXPECT_EQ(cut("a→b", 3), "a→b");
  EXPECT_EQ(cut("a→bc", 3), "a→…");
}

TEST(Wrapped, BreaksAtBlanks) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two", 7), ElementsAre("one two"));
  EXPECT_THAT(wrapped("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrapped("", 3), ElementsAre(""));
}

TEST(Sparkline, OutliersStandOut) {
  // Scale from 0.85 to 4: 1 is at 0.05 of it (lowest block), 4 at the top.
  EXPECT_EQ(sparkline(std::vector<double>{1, 1, 4, 1}, 10), "▁▁█▁");
  EXPECT_EQ(sparkline({}, 10), "");
}

TEST(Sparkline, AShareShowsItsLargest) {
  EXPECT_EQ(sparkline(std::vector<double>{1, 1, 4, 1}, 2), "▁█");
}

}  // namespace
}  // namespace tw
