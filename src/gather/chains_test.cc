// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/chains.h"

#include "trainwire/capture/test_files.h"
#include "trainwire/gather/captured.h"

#include <gmock/gmock.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace tw::gather {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kSecond = 1'000'000'000;

struct Seen {
  std::optional<std::int64_t> first_ns = {};
  std::optional<std::int64_t> last_ns = {};
  std::optional<std::uint32_t> host = {};
};

std::vector<Chain> chains(const std::vector<Seen>& files) {
  std::vector<Glimpse> glimpses;
  for (const Seen& file : files) {
    Glimpse& made = glimpses.emplace_back();
    made.first_ns = file.first_ns;
    made.last_ns = file.last_ns;
    if (file.host) made.home.push_back(packet::v4_address(*file.host));
  }
  return chains_of(glimpses);
}

TEST(Chains, AreOneForEachHost) {
  EXPECT_THAT(chains({Seen{3, {}, 1}, Seen{1, {}, 2}, Seen{2, {}, 1}}),
              ElementsAre(Chain{1}, Chain{2, 0}));
}

TEST(Chains, PartFilesThatOverlap) {
  const std::vector<Seen> files{
      {0, 10 * kSecond}, {kSecond, 9 * kSecond}, {10 * kSecond, 20 * kSecond}};
  // The third may follow either, so that all are one.
  EXPECT_THAT(chains(files), ElementsAre(Chain{0, 1, 2}));
  EXPECT_THAT(chains({files[0], files[1]}), ElementsAre(Chain{0}, Chain{1}));
}

TEST(Chains, ArePatientWithRotation) {
  const std::int64_t early = kSecond - kMostOverlapNs;
  EXPECT_THAT(chains({Seen{0, kSecond}, Seen{early}}), ElementsAre(Chain{0, 1}));
  EXPECT_THAT(chains({Seen{0, kSecond}, Seen{early - 1}}), ElementsAre(Chain{0}, Chain{1}));
}

TEST(Chains, KnowNothingOfFilesWithoutHostOrEnd) {
  EXPECT_THAT(chains({Seen{1}, Seen{0, {}, 7}, Seen{2, {}, 8}}), ElementsAre(Chain{1, 0, 2}));
}

TEST(Chains, BeginWithWhatHoldsNothing) {
  EXPECT_THAT(chains({Seen{5, {}, 1}, Seen{}, Seen{6, {}, 2}, Seen{}}),
              ElementsAre(Chain{1, 3, 0}, Chain{2}));
  EXPECT_THAT(chains({Seen{}}), ElementsAre(Chain{0}));
  EXPECT_TRUE(chains({}).empty());
}

void add_record(capture::HandMade& file, const capture::LadderFrame& frame) {
  file.u32(static_cast<std::uint32_t>(frame.time_ns / kSecond))
      .u32(static_cast<std::uint32_t>(frame.time_ns % kSecond / 1000))
      .u32(static_cast<std::uint32_t>(frame.bytes.size()))
      .u32(frame.original_bytes)
      .bytes(frame.bytes);
}

capture::LadderFrame frame_of(std::int64_t time_ns, const std::vector<std::byte>& bytes) {
  return {.time_ns = time_ns,
          .bytes = bytes,
          .original_bytes = static_cast<std::uint32_t>(bytes.size())};
}

TEST(Chains, AreReadAgainWhereAnEndDeceives) {
  // The data of two long packets look like records of the year 2100 where one begins in their
  // middle.
  constexpr std::int64_t kLater = 4'102'444'800 * kSecond;
  capture::HandMade inside(std::endian::little);
  for (int i = 0; i < 2000; ++i) add_record(inside, frame_of(kLater, std::vector<std::byte>(84)));
  capture::HandMade file(std::endian::little);
  file.u32(0xa1b2c3d4).u16(2).u16(4).u64(0).u32(262'144).u32(1);
  const auto frames = capture::ladder("0.0  a > b  1:1001\n0.1  b > a  ack 1001\n");
  for (const capture::LadderFrame& frame : frames) add_record(file, frame);
  for (int i = 0; i < 2; ++i) add_record(file, frame_of(frames.back().time_ns, inside.done()));

  const capture::TemporaryFolder folder;
  const std::string first = folder.file("1.pcap", file.done());
  const std::string second = folder.file("2.pcap", capture::ladder_pcap(R"(
      0.2  a > b  1001:2001
      0.3  b > a  ack 2001)"));
  ASSERT_EQ(glimpse(first, nullptr).last_ns, kLater);
  const Captured traffic = read_traffic(std::vector{first, second});
  EXPECT_EQ(traffic.files[0].view, traffic.files[1].view);
  EXPECT_EQ(traffic.totals.packets, 6u);
  ASSERT_EQ(traffic.flows.size(), 2u);
  EXPECT_EQ(traffic.flows[0].stream_bytes(), 2000u);
}

}  // namespace
}  // namespace tw::gather
