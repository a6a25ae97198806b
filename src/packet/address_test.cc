// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/address.h"

#include "trainwire/base/error.h"

#include <gtest/gtest.h>

namespace tw::packet {
namespace {

TEST(AddressText, ShortensTheFirstLongestRunOfZeros) {
  // Left: any valid spelling. Right: the one of RFC 5952 sections 4.1 to 4.3 and 5.
  const std::pair<const char*, const char*> cases[] = {
      {"2001:0DB8:0:0:0:0:0:1", "2001:db8::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
      {"0:0:0:0:0:0:0:0", "::"},
      {"0:0:0:0:0:0:0:1", "::1"},
      {"fe80:0:0:0:0:0:0:0", "fe80::"},
      {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
      {"::ffff:10.0.0.1", "10.0.0.1"},
      {"255.255.255.255", "255.255.255.255"},
  };
  for (const auto& [spelling, text] : cases) {
    EXPECT_EQ(parse_address(spelling).text(), text);
    EXPECT_EQ(parse_address(parse_address(spelling).text()), parse_address(spelling)) << text;
  }
}

TEST(ParseAddress, RefusesWhatIsNone) {
  using namespace std::string_view_literals;
  for (const auto text :
       {""sv, "10.0.0"sv, "10.0.0.256"sv, "host"sv, "::1::"sv, "fe80::1%eth0"sv, "10.0.0.1\0x"sv}) {
    EXPECT_THROW(parse_address(text), DataError) << text;
  }
}

TEST(V4Address, IsMappedIntoV6) {
  const Address address = v4_address(0x0a000001);
  EXPECT_TRUE(address.is_v4());
  EXPECT_EQ(address.text(), "10.0.0.1");
  EXPECT_FALSE(parse_address("fd00::1").is_v4());
}

}  // namespace
}  // namespace tw::packet
