// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/kind.h"

#include <gtest/gtest.h>

namespace tw::spec {
namespace {

using namespace std::chrono_literals;

/// The value of a TOML text.
template <typename T>
std::optional<T> value(const Kind<T>& kind, std::string_view toml) {
  return kind.read(*keys::read_value(toml, {})).value;
}

template <typename T>
std::string problem(const Kind<T>& kind, std::string_view toml) {
  return kind.read(*keys::read_value(toml, {})).problem;
}

template <typename T>
std::string rewritten(const Kind<T>& kind, std::string_view toml) {
  return keys::print(kind.write(*value(kind, toml)));
}

TEST(Size, IsTextWithAUnitOrAWholeNumberOfBytes) {
  EXPECT_EQ(value(size(), "\"64MiB\""), 64_MiB);
  EXPECT_EQ(value(size(), "150"), Bytes(150));
  EXPECT_EQ(value(size(), "-1"), std::nullopt);
  EXPECT_EQ(value(size(), "1.5"), std::nullopt);
  EXPECT_EQ(value(size(Bytes(4)), "3"), std::nullopt);
  EXPECT_EQ(problem(size(), "\"64Mbit\""),
            "\"64Mbit\" is not a size from 0B to 1024TiB; write for example \"64MiB\"");
}

TEST(Rate, NeedsAUnitAndIsAboveZero) {
  EXPECT_EQ(value(rate(), "\"1.5Gbit\""), BitRate(1.5e9));
  EXPECT_EQ(problem(rate(), "1000"), "1000 has no unit; write a unit, as in \"1Gbit\"");
  for (const char* bad : {"\"-1Gbit\"", "\"0bit\"", "true", "\"fast\"", "1979-05-27", "[]"}) {
    EXPECT_NE(problem(rate(), bad).find("is not a rate above 0; write for example \"1Gbit\""),
              std::string::npos)
        << bad;
  }
}

TEST(Time, NeedsAUnitUnlessZero) {
  EXPECT_EQ(value(time(), "\"50us\""), Duration(50us));
  EXPECT_EQ(value(time(), "0"), Duration(0));
  EXPECT_EQ(value(time(), "\"0s\""), Duration(0));
  EXPECT_EQ(problem(time(), "50"), "50 has no unit; write a unit, as in \"50us\"");
  EXPECT_EQ(value(time(Duration(1)), "0"), std::nullopt);
  EXPECT_EQ(value(time(), "\"2401h\""), std::nullopt);
}

TEST(Fraction, ReadsPercentagesAndNumbersFromZeroToOne) {
  EXPECT_DOUBLE_EQ(*value(fraction(), "\"5%\""), 0.05);
  EXPECT_EQ(value(fraction(), "1"), 1.0);
  for (const char* bad : {"1.01", "-0.1", "nan", "inf", "\"101%\"", "true"}) {
    EXPECT_EQ(value(fraction(), bad), std::nullopt) << bad;
  }
  EXPECT_EQ(value(probability(), "1"), std::nullopt);
  EXPECT_EQ(value(probability(), "\"0%\""), 0.0);
}

TEST(QueueKind, IsBytesOrAMultipleOfTheBandwidthDelayProduct) {
  EXPECT_EQ(value(queue(), "\"2.5bdp\""), Queue{.bdp = 2.5});
  EXPECT_EQ(value(queue(), "\"256KiB\""), Queue{.bytes = 256_KiB});
  EXPECT_EQ(value(queue(), "4096"), Queue{.bytes = Bytes(4096)});
  EXPECT_EQ(value(queue(), "\"max(2bdp, 64KiB)\""), (Queue{.bdp = 2, .bytes = 64_KiB}));
  EXPECT_EQ(rewritten(queue(), "\"max(1bdp,256KiB)\""), "\"max(1bdp, 256KiB)\"");
  for (const char* bad : {"\"max(1bdp)\"", "\"max(1bdp, 0)\"", "\"max(64KiB, 1bdp)\"", "\"bdp\"",
                          "\"-1bdp\"", "\"0bdp\"", "\"nanbdp\"", "0", "\"1e9bdp\"", "1.5"}) {
    EXPECT_EQ(value(queue(), bad), std::nullopt) << bad;
  }
}

TEST(LoadKind, IsAShareOrARate) {
  EXPECT_EQ(value(load(), "0.8"), Load{.share = 0.8});
  EXPECT_EQ(value(load(), "\"80%\""), Load{.share = 0.8});
  EXPECT_EQ(value(load(), "\"800Mbit\""), Load{.rate = BitRate(8e8)});
  EXPECT_EQ(value(load(), "0"), Load{.share = 0});
  EXPECT_NE(problem(load(), "1.5").find("above the bottleneck"), std::string::npos);
  EXPECT_EQ(value(load(), "-1"), std::nullopt);
}

TEST(Whole, SaysItsRange) {
  EXPECT_EQ(value(whole(1, 9), "9"), 9);
  EXPECT_EQ(problem(whole(1, 9), "10"), "10 is not a whole number from 1 to 9");
  EXPECT_EQ(problem(whole(1, 9), "2.0"), "2 is not a whole number from 1 to 9");
  EXPECT_EQ(problem(whole(1, 9, "one is needed"), "0"),
            "one is needed; 0 is not a whole number from 1 to 9");
  EXPECT_EQ(value(whole(1, 9), "9223372036854775807"), std::nullopt);
  EXPECT_EQ(value(seed(), "9223372036854775807"), 9223372036854775807u);
  EXPECT_EQ(value(seed(), "-1"), std::nullopt);
}

TEST(Choice, NamesTheNearest) {
  EXPECT_EQ(value(topology(), "\"leafspine\""), Topology::LeafSpine);
  EXPECT_EQ(problem(topology(), "\"strar\""), "unknown topology \"strar\"; did you mean \"star\"?");
  EXPECT_EQ(problem(engine(), "\"dpdk\""),
            "unknown engine \"dpdk\"; known: auto, netem, nfqueue, tap");
  EXPECT_EQ(problem(topology(), "4"), "4 is not text; write for example \"star\"");
  // Two layers: whether it could be read, and whether it is one direction.
  using Way = std::optional<Direction>;
  EXPECT_EQ(value(direction(), "\"both\""), std::optional<Way>(Way()));
  EXPECT_EQ(value(direction(), "\"to_host\""), std::optional<Way>(Direction::ToHost));
}

TEST(Verify, IsTrueFalseOrAuto) {
  EXPECT_EQ(value(verify(), "true"), Verify::On);
  EXPECT_EQ(value(verify(), "false"), Verify::Off);
  EXPECT_EQ(value(verify(), "\"auto\""), Verify::Auto);
  EXPECT_EQ(value(verify(), "\"yes\""), std::nullopt);
}

TEST(KernelName, IsAShortLowerCaseWord) {
  EXPECT_EQ(value(kernel_name(), "\"bbr2_x\""), "bbr2_x");
  for (const char* bad : {"\"\"", "\"Cubic\"", "\"a;b\"", "\"abcdefghijklmnop\"", "3"}) {
    EXPECT_EQ(value(kernel_name(), bad), std::nullopt) << bad;
  }
}

TEST(CongestionControl, IsAKernelsNameThatIsNoMisspeltOne) {
  for (const char* good : {"\"cubic\"", "\"bic\"", "\"mltcp\"", "\"bbr3\"", "\"nv\"", "\"lp\"",
                           "\"bbr2_x\"", "\"our_own\""}) {
    EXPECT_TRUE(value(congestion_control(), good)) << good;
  }
  for (const char* bad :
       {"\"cubik\"", "\"cbuic\"", "\"dctpc\"", "\"westwod\"", "\"rneo\"", "\"bbrr\""}) {
    EXPECT_EQ(value(congestion_control(), bad), std::nullopt) << bad;
  }
  EXPECT_EQ(problem(congestion_control(), "\"cubik\""),
            "unknown congestion control \"cubik\"; did you mean \"cubic\"?");
}

TEST(Lists, AreNotEmptyAndOfOneKind) {
  EXPECT_EQ(value(texts(), "[\"a\", \"b\"]"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(value(wholes(1, 9), "[3, 4]"), (std::vector<int>{3, 4}));
  for (const char* bad : {"[]", "\"a\"", "[1]", "[\"\"]"}) {
    EXPECT_EQ(value(texts(), bad), std::nullopt) << bad;
  }
}

TEST(Number, IsFinite) {
  EXPECT_EQ(value(number(1, 10), "2"), 2.0);
  for (const char* bad : {"nan", "inf", "0.5", "\"2\""}) {
    EXPECT_EQ(value(number(1, 10), bad), std::nullopt) << bad;
  }
}

TEST(Write, GivesTextThatReadsBackToTheSameValue) {
  EXPECT_EQ(rewritten(size(), "67108864"), "\"64MiB\"");
  EXPECT_EQ(rewritten(rate(), "\"1000Mbit\""), "\"1Gbit\"");
  EXPECT_EQ(rewritten(load(), "\"80%\""), "0.8");
  EXPECT_EQ(rewritten(queue(), "\"0.001bdp\""), "\"0.001bdp\"");
  for (const char* odd : {"\"1234567891bit\"", "\"1.1bit\"", "\"999999999999999bit\"",
                          "\"0.1234567891Gbit\"", "\"3333333.3kbit\""}) {
    EXPECT_EQ(value(rate(), rewritten(rate(), odd)), value(rate(), odd)) << odd;
  }
}

}  // namespace
}  // namespace tw::spec
