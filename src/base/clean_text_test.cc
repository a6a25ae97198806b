// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/clean_text.h"

#include <gmock/gmock.h>

#include <string>

namespace tw {
namespace {

using namespace std::string_literals;

TEST(Utf8, KeepsTextOfAnyLanguage) {
  for (const std::string text : {"host0", "größe", "模型", "🚀", "a\tb", "\x7f"}) {
    EXPECT_TRUE(is_clean(text)) << text;
    EXPECT_EQ(cleaned(text), text);
  }
}

TEST(Utf8, ReplacesEachByteThatIsNoPartOfACharacter) {
  EXPECT_EQ(cleaned("a\xff"
                    "b"),
            "a\ufffdb");
  EXPECT_EQ(cleaned("\xc3"), "\ufffd");                                // cut off
  EXPECT_EQ(cleaned("\xc0\xaf"), "\ufffd\ufffd");                      // overlong
  EXPECT_EQ(cleaned("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");            // a surrogate
  EXPECT_EQ(cleaned("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");  // beyond U+10FFFF
}

TEST(Utf8, ReplacesNul) {
  EXPECT_FALSE(is_clean("a\0b"s));
  EXPECT_EQ(cleaned("a\0b"s), "a\ufffdb");
}

}  // namespace
}  // namespace tw
