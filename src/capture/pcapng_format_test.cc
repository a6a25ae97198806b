// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/pcapng_format.h"

#include "trainwire/capture/test_files.h"

#include <gmock/gmock.h>

namespace tw::capture {
namespace {

using testing::HasSubstr;

constexpr std::string_view kThreeSegments =
    "0.000001 a > b 1:11\n0.000002 b > a ack 11\n1.5 a > b 11:21";
constexpr std::endian kOrders[] = {std::endian::little, std::endian::big};

const FileBytes& frame_bytes() {
  static const FileBytes bytes = ladder("0 a > b 1:11", {}).at(0).bytes;  // 64 of them
  return bytes;
}

/// Body of an interface description: Ethernet, no snap length, and options.
FileBytes interface_body(std::endian order, const FileBytes& options = {}) {
  return HandMade(order).u16(1).u16(0).u32(0).bytes(options).done();
}

/// Body of an enhanced packet block around frame_bytes().
FileBytes packet_body(std::endian order, std::uint32_t interface, std::uint64_t ticks,
                      const FileBytes& options = {}) {
  return HandMade(order)
      .u32(interface)
      .u32(static_cast<std::uint32_t>(ticks >> 32))
      .u32(static_cast<std::uint32_t>(ticks))
      .u32(64)
      .u32(64)
      .bytes(frame_bytes())
      .bytes(options)
      .done();
}

TEST(Pcapng, IsReadInBothByteOrders) {
  for (const std::endian order : kOrders) {
    const auto reading = read_all(
        written(kThreeSegments,
                {.interfaces = {{.link_type = 1, .snaplen = 60, .name = "eth0"}}, .order = order}));
    ASSERT_EQ(reading.packets.size(), 3u);
    EXPECT_EQ(reading.packets[0].time_ns, 1'700'000'000'000'001'000);
    EXPECT_EQ(reading.packets[2].time_ns, 1'700'000'001'500'000'000);
    EXPECT_EQ(reading.packets[2].captured_bytes, 60u);
    EXPECT_EQ(reading.packets[2].wire_bytes, 64u);
    EXPECT_EQ(reading.facts.format, "pcapng");
    EXPECT_TRUE(reading.facts.nanoseconds);
    EXPECT_EQ(reading.facts.interfaces.at(0).name, "eth0");
    EXPECT_EQ(reading.facts.interfaces.at(0).snaplen, 60u);
    EXPECT_FALSE(reading.damage.has_value());
  }
}

TEST(Pcapng, GivesEachInterfaceItsOwnClock) {
  // Nanoseconds, microseconds and 2^-20 s, which is 953.67 ns: the third packet's 1.5 s are
  // 1,572,864 of them.
  const auto reading = read_all(
      written(kThreeSegments, {.interfaces = {{.link_type = 1},
                                              {.link_type = 1, .ticks_per_second = 1'000'000},
                                              {.link_type = 1, .ticks_per_second = 1 << 20}}}));
  ASSERT_EQ(reading.packets.size(), 3u);
  EXPECT_EQ(reading.packets[0].time_ns, 1'700'000'000'000'001'000);
  EXPECT_EQ(reading.packets[1].time_ns, 1'700'000'000'000'002'000);
  EXPECT_EQ(reading.packets[2].time_ns, 1'700'000'001'500'000'000);
  EXPECT_EQ(reading.packets[2].interface, 2);
  EXPECT_EQ(reading.facts.interfaces.at(2).ticks_per_second, 1 << 20);
}

TEST(Pcapng, AddsTheTimeOffset) {
  for (const std::endian order : kOrders) {
    // if_tsoffset (14): 1000 seconds; ticks are microseconds when nothing is said.
    const FileBytes options = HandMade(order).u16(14).u16(8).u64(1000).u32(0).done();
    const auto file = HandMade(order)
                          .section_header()
                          .block(1, interface_body(order, options))
                          .block(6, packet_body(order, 0, 7))
                          .done();
    EXPECT_EQ(read_all(file).packets.at(0).time_ns, 1'000'000'007'000);
    EXPECT_FALSE(read_all(file).facts.nanoseconds);
  }
}

TEST(Pcapng, NumbersInterfacesOverSectionsOfDifferentByteOrder) {
  const auto first =
      written("0 a > b 1:11\n0 c > b 1:11",
              {.interfaces = {{.link_type = 1, .name = "x"}, {.link_type = 1, .name = "y"}},
               .order = std::endian::little});
  const auto second = written(
      "1 d > b 1:11", {.interfaces = {{.link_type = 1, .name = "z"}}, .order = std::endian::big});
  const auto reading = read_all(joined(first, second));
  ASSERT_EQ(reading.packets.size(), 3u);
  EXPECT_EQ(reading.packets[1].interface, 1);
  EXPECT_EQ(reading.packets[2].interface, 2);
  EXPECT_EQ(reading.facts.interfaces.at(2).name, "z");
  EXPECT_THAT(reading.sources, testing::ElementsAre("10.0.0.1", "10.0.0.3", "10.0.0.4"));
  EXPECT_EQ(reading.packets[2].time_ns, 1'700'000'001'000'000'000);
}

TEST(Pcapng, TakesTheLastStatistics) {
  FileBytes file;
  Writer writer(memory_sink(file), {.interfaces = {{.link_type = 1}, {.link_type = 1}}});
  writer.statistics(1, 100, 1);
  writer.statistics(1, 1000, 17);
  writer.finish();
  const auto reading = read_all(file);
  EXPECT_EQ(reading.facts.interfaces.at(1).received, 1000u);
  EXPECT_EQ(reading.facts.interfaces.at(1).dropped, 17u);
  EXPECT_EQ(reading.facts.interfaces.at(0).dropped, std::nullopt);
}

TEST(Pcapng, AddsWhatTheSystemDroppedToWhatTheInterfaceDropped) {
  const std::endian order = std::endian::big;
  const FileBytes options = HandMade(order).u16(5).u16(8).u64(3).u16(7).u16(8).u64(4).done();
  const auto file = HandMade(order)
                        .section_header()
                        .block(1, interface_body(order))
                        .block(5, HandMade(order).u32(0).u64(0).bytes(options).done())
                        .done();
  EXPECT_EQ(read_all(file).facts.interfaces.at(0).dropped, 7u);
}

TEST(Pcapng, SumsDropCountsOfPacketsWhereThereAreNoStatistics) {
  for (const std::endian order : kOrders) {
    const FileBytes five = HandMade(order).u16(4).u16(8).u64(5).u32(0).done();
    // The obsolete block holds the interface and the count in 16 bits each: 2 drops, then "not
    // counted".
    const auto obsolete = [order](std::uint16_t drops) {
      return HandMade(order)
          .u16(0)
          .u16(drops)
          .u32(0)
          .u32(9)
          .u32(64)
          .u32(64)
          .bytes(frame_bytes())
          .done();
    };
    const auto file = HandMade(order)
                          .section_header()
                          .block(1, interface_body(order))
                          .block(6, packet_body(order, 0, 7, five))
                          .block(2, obsolete(2))
                          .block(2, obsolete(0xffff))
                          .done();
    const auto reading = read_all(file);
    ASSERT_EQ(reading.packets.size(), 3u);
    EXPECT_EQ(reading.packets[1].time_ns, 9000);
    EXPECT_EQ(reading.packets[1].payload_bytes, 10u);
    EXPECT_EQ(reading.facts.interfaces.at(0).dropped, 7u);
  }
}

TEST(Pcapng, ReadsSimplePacketsAtTheTimeOfTheOneBefore) {
  const std::endian order = std::endian::little;
  // Snap length 60: a simple packet block does not say how much it holds.
  const auto file =
      HandMade(order)
          .section_header()
          .block(1, HandMade(order).u16(1).u16(0).u32(60).done())
          .block(6, packet_body(order, 0, 7))
          .block(3, HandMade(order).u32(1500).bytes(std::span(frame_bytes()).first(60)).done())
          .done();
  const auto reading = read_all(file);
  ASSERT_EQ(reading.packets.size(), 2u);
  EXPECT_EQ(reading.packets[1].wire_bytes, 1500u);
  EXPECT_EQ(reading.packets[1].captured_bytes, 60u);
  EXPECT_EQ(reading.packets[1].time_ns, 7000);
  EXPECT_EQ(reading.packets[1].verdict, packet::Verdict::Tcp);
}

TEST(Pcapng, SkipsUnknownBlocksOfAnySize) {
  for (const std::size_t size : {0u, 4u, 40u << 20}) {
    const std::endian order = std::endian::little;
    const auto file = HandMade(order)
                          .section_header()
                          .block(0x80000001, FileBytes(size))
                          .block(1, interface_body(order))
                          .block(6, packet_body(order, 0, 7))
                          .done();
    const auto reading = read_all(file);
    EXPECT_EQ(reading.packets.size(), 1u) << size;
    EXPECT_FALSE(reading.damage.has_value()) << size;
  }
}

TEST(Pcapng, CutAnywhereGivesEverythingBeforeTheCut) {
  const FileBytes whole = written(kThreeSegments, {});
  // Section header 28, interface 20 + 8 (resolution) + 4 (end) = 32; packet blocks of 32 + 64, 56
  // and 64 bytes (54 are padded to 56).
  const std::vector<std::size_t> ends = {28, 60, 156, 244, 340};
  ASSERT_EQ(whole.size(), ends.back());
  for (std::size_t n = 4; n <= whole.size(); ++n) {
    const FileBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    const auto reading = read_all(cut);
    EXPECT_EQ(reading.packets.size(), n < 156 ? 0u : n < 244 ? 1u : n < 340 ? 2u : 3u) << n;
    const bool at_boundary = std::find(ends.begin(), ends.end(), n) != ends.end();
    EXPECT_EQ(reading.damage.has_value(), !at_boundary) << n;
    if (at_boundary) continue;
    const auto begin = n < 28 ? 0 : *(std::upper_bound(ends.begin(), ends.end(), n) - 1);
    EXPECT_EQ(reading.damage->offset, static_cast<std::int64_t>(begin)) << n;
    EXPECT_THAT(reading.damage->text, HasSubstr("cut off"));
  }
}

struct Wrong {
  FileBytes file;
  std::string_view reason;
};

TEST(Pcapng, SaysWhatIsWrongWithABlock) {
  const std::endian order = std::endian::little;
  const auto begin = [order] {
    return HandMade(order).section_header().block(1, interface_body(order));
  };
  const auto body = [order] { return HandMade(order); };
  FileBytes no_mark = begin().done();
  no_mark[8] = std::byte{0};
  FileBytes version = begin().done();
  version[12] = std::byte{2};
  const Wrong wrongs[] = {
      {no_mark, "no byte-order mark"},
      {version, "pcapng version 2"},
      {begin().u32(6).u32(8).u32(8).u32(0).done(), "length of 8 bytes"},
      {begin().u32(6).u32(33).text(std::string(25, 'x')).done(), "length of 33 bytes"},
      {begin().u32(6).u32(1u << 30).u32(0).done(), "length of 1073741824 bytes"},
      {begin().u32(99).u32(14).u32(0).done(), "length of 14 bytes"},
      {begin().u32(99).u32(100).u32(0).done(), "cut off"},
      {begin().u32(99).u32(12).u32(13).done(), "lengths differ: 12 in front, 13 behind"},
      {begin().u32(6).u32(12).u32(16).done(), "lengths differ: 12 in front, 16 behind"},
      {begin().block(6, FileBytes(8)).done(), "too short for its kind"},
      {begin().block(2, FileBytes(8)).done(), "too short for its kind"},
      {begin().block(3, {}).done(), "too short for its kind"},
      {begin().block(1, FileBytes(4)).done(), "too short for its kind"},
      {begin().block(5, FileBytes(8)).done(), "too short for its kind"},
      {begin().block(6, packet_body(order, 1, 0)).done(), "an interface 1 that is not described"},
      {begin().block(5, body().u32(9).u64(0).done()).done(),
       "an interface 9 that is not described"},
      {begin().block(6, body().u32(0).u64(0).u32(64).u32(64).u32(0).done()).done(),
       "64 captured and 64 original bytes in a block of 36"},
      {begin().block(3, body().u32(0xffffffff).done()).done(), "claims 4294967295 original"},
      {HandMade(order).section_header().block(3, body().u32(4).u32(0).done()).done(),
       "before any interface"},
      {begin().block(1, interface_body(order, body().u16(9).u16(1).u32(77).done())).done(),
       "time resolution (code 77)"},
  };
  for (const auto& [file, reason] : wrongs) {
    const auto reading = read_all(file);
    ASSERT_TRUE(reading.damage.has_value()) << reason;
    EXPECT_THAT(reading.damage->text, HasSubstr(std::string(reason)));
  }
}

TEST(Pcapng, StopsCollectingInterfacesAt65535) {
  HandMade file(std::endian::little);
  file.section_header();
  const FileBytes body = interface_body(std::endian::little);
  for (int i = 0; i < 65536; ++i) file.block(1, body);
  const auto reading = read_all(file.done());
  EXPECT_EQ(reading.facts.interfaces.size(), 65535u);
  EXPECT_THAT(reading.damage.value().text, HasSubstr("more than 65535 interfaces"));
}

TEST(Pcapng, KeepsNamesPrintableAndShort) {
  const std::endian order = std::endian::little;
  const FileBytes named = HandMade(order)
                              .u16(2)
                              .u16(4)
                              .text(
                                  "e\x01\xff"
                                  "0")
                              .u32(0)
                              .done();
  EXPECT_EQ(read_all(HandMade(order).section_header().block(1, interface_body(order, named)).done())
                .facts.interfaces.at(0)
                .name,
            "e??0");
  const FileBytes long_name = HandMade(order).u16(2).u16(1000).text(std::string(1000, 'n')).done();
  EXPECT_EQ(
      read_all(HandMade(order).section_header().block(1, interface_body(order, long_name)).done())
          .facts.interfaces.at(0)
          .name.size(),
      256u);
}

}  // namespace
}  // namespace tw::capture
