// SPDX-License-Identifier: Apache-2.0
#include "trainwire/imports/stamp.h"

#include <gmock/gmock.h>

namespace tw::imports {
namespace {

using testing::Eq;
using testing::Optional;

// date -u -d '2026-11-15 05:16:39' +%s prints 1794719799.
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNoon = 1794719799 * kSecond;

TEST(Epoch, IsReadToTheLastNanosecond) {
  EXPECT_THAT(parse_epoch("1794719799.907973"), Optional(kNoon + 907'973'000));
  EXPECT_THAT(parse_epoch("1794719799.123456789"), Optional(kNoon + 123'456'789));
  EXPECT_THAT(parse_epoch("1794719799123456789"), Optional(kNoon + 123'456'789));
}

TEST(Epoch, UnitFollowsFromTheSize) {
  EXPECT_THAT(parse_epoch("1794719799"), Optional(kNoon));
  EXPECT_THAT(parse_epoch("1794719799000"), Optional(kNoon));
  EXPECT_THAT(parse_epoch("1794719799000000.5"), Optional(kNoon + 500));
  EXPECT_THAT(parse_epoch("1794719799000000000"), Optional(kNoon));
}

TEST(Epoch, StatedUnitWins) {
  EXPECT_THAT(parse_epoch("1500", StampUnit::Nanoseconds), Optional(1500));
  EXPECT_THAT(parse_epoch("1500", StampUnit::Milliseconds), Optional(1500 * 1'000'000));
  EXPECT_THAT(parse_epoch("-0.5", StampUnit::Seconds), Optional(-500'000'000));
}

TEST(Epoch, ExponentsAreNumbersToo) {
  EXPECT_THAT(parse_epoch("1.5e3", StampUnit::Seconds), Optional(1500 * kSecond));
}

TEST(Epoch, RefusesWhatIsNoTime) {
  for (const char* text : {"", "abc", "nan", "inf", "1e300", "1794719799s", "1,5", "0x10", "."}) {
    EXPECT_THAT(parse_epoch(text), Eq(std::nullopt)) << text;
  }
}

TEST(DateTime, IsReadInItsUsualSpellings) {
  for (const char* text :
       {"2026-11-15T05:16:39Z", "2026-11-15 05:16:39", "2026/11/15 05:16:39.000",
        "2026-11-15T06:16:39+01:00", "2026-11-15T00:16:39-0500", "2026-11-15 05:16:39,0"}) {
    EXPECT_THAT(parse_date_time(text), Optional(kNoon)) << text;
  }
  EXPECT_THAT(parse_date_time("2026-11-15 05:16:39,907"), Optional(kNoon + 907'000'000));
}

TEST(DateTime, RefusesWhatTheCalendarDoesNotHave) {
  for (const char* text : {"2026-02-30 00:00:00", "2026-13-01 00:00:00", "2026-11-15 24:00:00",
                           "2026-11-15", "1826-11-15 05:16:39", "2026-11-15 05:16:39 x"}) {
    EXPECT_THAT(parse_date_time(text), Eq(std::nullopt)) << text;
  }
}

TEST(Stamp, IsFoundInsideALine) {
  EXPECT_THAT(find_stamp("[2026-11-15 05:16:39.5: I horovod] step 1"),
              Optional(kNoon + 500'000'000));
  EXPECT_THAT(find_stamp("step 12 at 1794719799.25 loss 0.1"), Optional(kNoon + 250'000'000));
  EXPECT_THAT(find_stamp("12/2026-11-15 05:16:39"), Optional(kNoon));
}

TEST(Stamp, OtherNumbersAreNone) {
  for (const char* line : {"", "step 12 loss 0.1794719799", "id a1794719799", "1794719799ms",
                           "0794719799", "2026-11-15"}) {
    EXPECT_THAT(find_stamp(line), Eq(std::nullopt)) << line;
  }
}

// As Python's rich and Hugging Face's examples write them.
TEST(FindStamp, MonthsMayComeFirst) {
  const auto expected = find_stamp("2024-05-01 12:00:10");
  ASSERT_TRUE(expected);
  EXPECT_EQ(find_stamp("[05/01/24 12:00:10] INFO step 3"), expected);
  EXPECT_EQ(find_stamp("05/01/2024 12:00:10 - INFO - step 3"), expected);
  EXPECT_EQ(find_stamp("31/05/2024 12:00:10"), find_stamp("2024-05-31 12:00:10"));
  EXPECT_EQ(find_stamp("step 10/20/30 of 12"), std::nullopt);
  EXPECT_EQ(find_stamp("13/13/2024 12:00:10"), std::nullopt);
}

}  // namespace
}  // namespace tw::imports
