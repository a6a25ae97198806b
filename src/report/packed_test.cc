// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/packed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tw::report {
namespace {

std::string encoded(std::string_view text) {
  return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// The examples of RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Packed, GivesTheLargestValueTheLargestCode) {
  // 65534 = 0xfffe is the largest, half of it 32767 = 0x7fff; little-endian: 00 00 ff 7f fe ff.
  const auto document = packed(std::vector<double>{0, 5, 10});
  EXPECT_EQ(document["n"], 3);
  EXPECT_DOUBLE_EQ(document["step"].get<double>(), 10.0 / 65534);
  EXPECT_EQ(document["data"], encoded(std::string_view("\0\0\xff\x7f\xfe\xff", 6)));
}

TEST(Packed, MarksWhatIsNoValue) {
  const std::vector<double> values{std::nan(""), std::numeric_limits<double>::infinity(), -1};
  EXPECT_EQ(packed(values)["data"], encoded("\xff\xff\xff\xff\xff\xff"));
}

TEST(Packed, KeepsASeriesOfZeros) {
  EXPECT_EQ(packed(std::vector<double>{0, 0})["data"], encoded(std::string_view("\0\0\0\0", 4)));
}

TEST(ShortNumber, HasSixDigits) {
  EXPECT_EQ(short_number(1234567.89), 1234570);
  EXPECT_EQ(short_number(0.1), 0.1);
  EXPECT_TRUE(std::isnan(short_number(std::nan(""))));
}

TEST(NumberOrNull, IsNullForWhatJsonCannotSay) {
  EXPECT_TRUE(number_or_null({}).is_null());
  EXPECT_TRUE(number_or_null(std::nan("")).is_null());
  EXPECT_EQ(number_or_null(2.5), 2.5);
}

}  // namespace
}  // namespace tw::report
