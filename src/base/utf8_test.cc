// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/utf8.h"

#include <gmock/gmock.h>

#include <string>

namespace tw {
namespace {

TEST(CharacterLength, IsThatOfTheFirstCharacter) {
  EXPECT_EQ(character_length("ab"), 1U);
  EXPECT_EQ(character_length(std::string(1, '\0')), 1U);
  EXPECT_EQ(character_length("üb"), 2U);
  EXPECT_EQ(character_length("€"), 3U);
  EXPECT_EQ(character_length("\U0001F600"), 4U);
}

TEST(CharacterLength, IsNothingForWhatIsNoUtf8) {
  // Alone, cut off, overlong (two, three and four bytes), a surrogate, beyond U+10FFFF.
  for (const char* text : {"\x80", "\xff", "\xc3", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf",
                           "\xf0\x80\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_EQ(character_length(text), 0U) << text;
  }
}

}  // namespace
}  // namespace tw
