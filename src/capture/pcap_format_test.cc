// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/pcap_format.h"

#include "trainwire/capture/test_files.h"

#include <gmock/gmock.h>

namespace tw::capture {
namespace {

using testing::HasSubstr;

constexpr std::string_view kThreeSegments =
    "0.000001 a > b 1:11\n0.000002 b > a ack 11\n1.5 a > b 11:21";
constexpr std::endian kOrders[] = {std::endian::little, std::endian::big};

TEST(Pcap, IsReadInBothByteOrdersAndResolutions) {
  for (const std::endian order : kOrders) {
    for (const std::int64_t ticks : {1'000'000, 1'000'000'000}) {
      const auto reading = read_all(
          written(kThreeSegments, {.format = FileFormat::Pcap,
                                   .interfaces = {{.link_type = 1, .ticks_per_second = ticks}},
                                   .order = order}));
      ASSERT_EQ(reading.packets.size(), 3u);
      EXPECT_EQ(reading.packets[0].time_ns, 1'700'000'000'000'001'000);
      EXPECT_EQ(reading.packets[2].time_ns, 1'700'000'001'500'000'000);
      EXPECT_EQ(reading.packets[2].payload_bytes, 10u);
      EXPECT_EQ(reading.sources[1], "10.0.0.2");
      EXPECT_EQ(reading.facts.format, "pcap");
      EXPECT_EQ(reading.facts.nanoseconds, ticks == 1'000'000'000);
      EXPECT_EQ(reading.facts.interfaces.at(0).ticks_per_second, ticks);
      EXPECT_FALSE(reading.damage.has_value());
    }
  }
}

HandMade file_header(std::uint32_t magic, std::endian order, std::uint32_t link_type = 1) {
  return HandMade(order).u32(magic).u16(2).u16(4).u64(0).u32(262144).u32(link_type);
}

TEST(Pcap, OfThePatchedKindHasLongerRecordHeaders) {
  const LadderFrame frame = ladder("0 a > b 1:11").at(0);
  for (const std::endian order : kOrders) {
    HandMade file = file_header(0xa1b2cd34, order);
    for (std::uint32_t second = 1; second <= 2; ++second) {
      const auto length = static_cast<std::uint32_t>(frame.bytes.size());
      file.u32(second).u32(5).u32(length).u32(length).u64(0x1234).bytes(frame.bytes);
    }
    const auto reading = read_all(file.done());
    ASSERT_EQ(reading.packets.size(), 2u);
    EXPECT_EQ(reading.packets[1].time_ns, 2'000'005'000);
    EXPECT_EQ(reading.packets[1].payload_bytes, 10u);
  }
}

TEST(Pcap, IgnoresWhatIsNotTheLinkType) {
  // The upper bits hold the length of a frame check sequence: here 4 bytes (f bit and length 2).
  const auto reading = read_all(file_header(0xa1b2c3d4, std::endian::little, 0x24000001).done());
  EXPECT_EQ(reading.facts.interfaces.at(0).link_type, 1u);
  EXPECT_FALSE(reading.damage.has_value());
}

TEST(Pcap, CutAnywhereGivesEverythingBeforeTheCut) {
  const FileBytes whole = written(kThreeSegments, {.format = FileFormat::Pcap});
  // 24 bytes of file header; records of 16 + 64, 16 + 54, 16 + 64 bytes end at 104, 174 and 254.
  ASSERT_EQ(whole.size(), 254u);
  for (std::size_t n = 4; n <= whole.size(); ++n) {
    const FileBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    const auto reading = read_all(cut);
    EXPECT_EQ(reading.packets.size(), n < 104 ? 0u : n < 174 ? 1u : n < 254 ? 2u : 3u) << n;
    const bool at_boundary = n == 24 || n == 104 || n == 174 || n == 254;
    ASSERT_EQ(reading.damage.has_value(), !at_boundary) << n;
    if (at_boundary) continue;
    const std::int64_t begin = n < 24 ? 0 : n < 104 ? 24 : n < 174 ? 104 : 174;
    EXPECT_EQ(reading.damage->offset, begin) << n;
    EXPECT_THAT(reading.damage->text,
                HasSubstr("is cut off after " +
                          std::to_string(n - static_cast<std::size_t>(begin)) + " of "));
  }
}

TEST(Pcap, CallsAnImpossibleLengthDamage) {
  for (const auto& [captured, original] :
       {std::pair{0xdeadbeefu, 100u}, {100u, 0xdeadbeefu}, {(1u << 20) + 1, 100u}}) {
    FileBytes file =
        written(kThreeSegments, {.format = FileFormat::Pcap, .order = std::endian::little});
    packet::store(&file[104 + 8], captured, std::endian::little);
    packet::store(&file[104 + 12], original, std::endian::little);
    const auto reading = read_all(file);
    EXPECT_EQ(reading.packets.size(), 1u);
    ASSERT_TRUE(reading.damage.has_value());
    EXPECT_EQ(reading.damage->offset, 104);
    EXPECT_THAT(reading.damage->text, HasSubstr(std::to_string(captured) + " captured"));
  }
}

TEST(Pcap, OfAnotherVersionIsNotGuessedAt) {
  FileBytes file =
      written(kThreeSegments, {.format = FileFormat::Pcap, .order = std::endian::little});
  packet::store(&file[4], std::uint16_t{3}, std::endian::little);
  const auto reading = read_all(file);
  EXPECT_TRUE(reading.packets.empty());
  EXPECT_THAT(reading.damage.value().text, HasSubstr("version 3"));
}

}  // namespace
}  // namespace tw::capture
