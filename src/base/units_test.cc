// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/units.h"

#include <gtest/gtest.h>

namespace tw {
namespace {

using namespace std::chrono_literals;

TEST(ParseBytes, TellsBinaryFromDecimal) {
  EXPECT_EQ(parse_bytes("64MiB"), Bytes(64 * 1024 * 1024));
  EXPECT_EQ(parse_bytes("64MB"), Bytes(64'000'000));
  EXPECT_EQ(parse_bytes("64M"), Bytes(64'000'000));
  EXPECT_EQ(parse_bytes("1.5 kB"), Bytes(1500));
  EXPECT_EQ(parse_bytes("150"), Bytes(150));
  EXPECT_EQ(parse_bytes("0"), Bytes(0));
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "MB", "-1MB", "1e3", "64Mbit", "nan", "inf", "1MB2", "99999999TB", "0x10"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(ParseRate, ReadsTcAndIperfSpellings) {
  for (const char* text : {"25Gbit", "25Gbps", "25G", "25 Gbit/s", "25000Mbit", "25000M"}) {
    EXPECT_EQ(parse_rate(text), BitRate(25e9)) << text;
  }
  EXPECT_EQ(parse_rate("64MiB"), std::nullopt);
  EXPECT_EQ(parse_rate("-1Gbit"), std::nullopt);
  EXPECT_EQ(parse_rate("25"), std::nullopt);
}

TEST(ParseDuration, NeedsAUnit) {
  EXPECT_EQ(parse_duration("100us"), 100us);
  EXPECT_EQ(parse_duration("10ms"), 10ms);
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("100"), std::nullopt);
}

TEST(ParseFraction, ReadsPercentAndPlain) {
  EXPECT_DOUBLE_EQ(*parse_fraction("0.1%"), 0.001);
  EXPECT_DOUBLE_EQ(*parse_fraction("0.001"), 0.001);
  EXPECT_EQ(parse_fraction("101%"), std::nullopt);
}

TEST(Units, TimeOnTheLineFollowsFromSizeAndRate) {
  // 125 MB are 10^9 bits: one second at 1 Gbit/s.
  EXPECT_EQ(125_MB / 1_Gbit, 1s);
  EXPECT_EQ(125_MB / Duration(1s), 1_Gbit);
  EXPECT_EQ(1_Gbit * Duration(1s), 125_MB);
}

TEST(Exact, IsReadBackToTheSameValue) {
  for (const std::int64_t n : {0LL, 1LL, 999LL, 1000LL, 1024LL, 1500LL, 97'000'000LL, 64LL << 20}) {
    EXPECT_EQ(parse_bytes(exact(Bytes(n))), Bytes(n)) << n;
    EXPECT_EQ(parse_duration(exact(Duration(n))), Duration(n)) << n;
    EXPECT_EQ(parse_rate(exact(BitRate(static_cast<double>(n)))), BitRate(static_cast<double>(n)))
        << n;
  }
}

TEST(Exact, SurvivesRatesThatDivideBadly) {
  for (double bps = 1e9; bps < 1e12; bps += 7919e6) {
    EXPECT_EQ(parse_rate(exact(BitRate(bps))), BitRate(bps)) << exact(BitRate(bps));
  }
}

TEST(Readable, KeepsFourDigitsAtMost) {
  EXPECT_EQ(readable(Bytes(2010851328)), "2011 MB");
  EXPECT_EQ(readable(Bytes(12'500'000'000)), "12.5 GB");
  EXPECT_EQ(readable(Bytes(1500)), "1500 B");
  EXPECT_EQ(readable(Bytes(153342192)), "153.3 MB");
  EXPECT_EQ(readable(Bytes(0)), "0 B");
  EXPECT_EQ(readable(BitRate(25e9)), "25 Gbit/s");
  EXPECT_EQ(readable(Duration(840ms)), "840 ms");
  EXPECT_EQ(readable(Duration(999'999)), "1 ms");
}

TEST(Grouped, SeparatesThousands) {
  EXPECT_EQ(grouped(25557032), "25,557,032");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(7), "7");
}

}  // namespace
}  // namespace tw
