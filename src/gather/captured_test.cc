// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/captured.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/test_files.h"
#include "trainwire/packet/frame.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace tw::gather {
namespace {

using capture::ladder_pcap;
using capture::TemporaryFolder;

constexpr std::string_view kExchange = R"(
    0.000  a > b  S
    0.001  b > a  S  ack 1
    0.002  a > b  1:1001
    0.003  b > a  ack 1001
    0.004  a.9 > c.9  udp 77)";

Captured read(const std::vector<std::string>& paths, const ReadOptions& options = {}) {
  return read_traffic(paths, options);
}

std::uint64_t pair_packets(const Captured& traffic) {
  std::uint64_t sum = 0;
  for (const flow::PairCount& pair : traffic.pairs) sum += pair.packets;
  return sum;
}

TEST(ReadTraffic, ReadsAFile) {
  const TemporaryFolder folder;
  const Captured traffic = read({folder.file("x.pcap", capture::ladder_pcap(kExchange))});
  EXPECT_EQ(traffic.totals.packets, 5u);
  ASSERT_EQ(traffic.flows.size(), 3u);
  const flow::FlowKey& key = traffic.flows.front().key;
  EXPECT_EQ(traffic.addresses[key.source].text(), "10.0.0.1");
  EXPECT_EQ(traffic.addresses[key.destination].text(), "10.0.0.2");
  EXPECT_EQ(traffic.series.bytes(), traffic.totals.wire_bytes);
  ASSERT_EQ(traffic.files.size(), 1u);
  EXPECT_EQ(traffic.files[0].packets, 5u);
  EXPECT_EQ(traffic.files[0].facts.format, "pcap");
  EXPECT_TRUE(traffic.files[0].clock_known);
}

TEST(ReadTraffic, TakesOnlyWhatPassesTheFilter) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.pcap", capture::ladder_pcap(kExchange));
  EXPECT_EQ(read({path}, {.filter = "udp"}).totals.packets, 1u);
  EXPECT_EQ(read({path}, {.filter = "tcp"}).totals.packets, 4u);
  EXPECT_THROW(read({path}, {.filter = "tcp or ("}), SpecError);
}

TEST(ReadTraffic, ReadsAnEmptyCaptureAsNothing) {
  const TemporaryFolder folder;
  const Captured traffic = read({folder.file("x.pcap", capture::ladder_pcap(""))});
  EXPECT_EQ(traffic.totals.packets, 0u);
  EXPECT_TRUE(traffic.flows.empty());
  EXPECT_EQ(traffic.files[0].first_ns, 0);
}

TEST(ReadTraffic, RefusesWhatIsNoCapture) {
  const TemporaryFolder folder;
  EXPECT_THROW(read({folder.file("x", std::as_bytes(std::span("plain text")))}), DataError);
  EXPECT_THROW(read({"/nonexistent.pcap"}), SystemError);
}

TEST(ReadTraffic, GivesEverythingBeforeDamage) {
  const TemporaryFolder folder;
  std::vector<std::byte> bytes = capture::ladder_pcap(kExchange);
  bytes.resize(bytes.size() - 10);
  const Captured traffic = read({folder.file("x.pcap", bytes)});
  EXPECT_EQ(traffic.totals.packets, 4u);
  EXPECT_TRUE(traffic.files[0].damage.has_value());
}

TEST(ReadTraffic, ReadsARotatedCaptureAsOne) {
  // The second file continues the first: one connection, whose second half is no new flow. The
  // order of the arguments does not matter.
  const TemporaryFolder folder;
  const std::string first = folder.file("1.pcap", capture::ladder_pcap(R"(
      0.0  a > b  1:1001
      0.1  b > a  ack 1001)"));
  const std::string second = folder.file("2.pcap", capture::ladder_pcap(R"(
      0.2  a > b  1001:2001
      0.3  b > a  ack 2001)"));
  for (const auto& paths : {std::vector{first, second}, std::vector{second, first}}) {
    const Captured traffic = read(paths);
    EXPECT_EQ(traffic.totals.packets, 4u);
    ASSERT_EQ(traffic.flows.size(), 2u);
    EXPECT_EQ(traffic.flows[0].stream_bytes(), 2000u);
    EXPECT_EQ(traffic.flows[0].stream.missing_bytes(), 0u);
    EXPECT_EQ(traffic.files[0].view, traffic.files[1].view);
    EXPECT_EQ(traffic.files[0].packets, 2u);
    EXPECT_EQ(traffic.files[0].path, paths[0]);
    EXPECT_EQ(traffic.files[0].first_ns < traffic.files[1].first_ns, paths[0] == first);
  }
}

TEST(ReadTraffic, CountsAFileThatIsGivenTwiceOnce) {
  const TemporaryFolder folder;
  for (const std::string_view text : {kExchange, std::string_view("0 a > b 1:101")}) {
    const std::string path = folder.file("x.pcap", capture::ladder_pcap(text));
    const std::string copy = folder.file("y.pcap", capture::ladder_pcap(text));
    const Captured once = read({path});
    for (const auto& paths : {std::vector{path, path}, std::vector{path, copy, path}}) {
      const Captured traffic = read(paths);
      EXPECT_EQ(traffic.totals.packets, once.totals.packets);
      EXPECT_EQ(traffic.totals.wire_bytes, once.totals.wire_bytes);
      EXPECT_EQ(traffic.flows.size(), once.flows.size());
      EXPECT_EQ(traffic.series.bytes(), once.series.bytes());
    }
  }
}

TEST(ReadTraffic, CombinesTheCapturesOfTwoHosts) {
  // Host b's clock leads by 5 s, so the files do not overlap as stamped; homes tell them apart.
  const TemporaryFolder folder;
  const std::string at_a = folder.file("a.pcap", capture::ladder_pcap(R"(
      0.000  a > b  1:1001
      0.002  b > a  ack 1001
      0.003  a.3 > c.3  1:1001)"));
  const std::string at_b = folder.file("b.pcap", capture::ladder_pcap(R"(
      5.001  a > b  1:1001
      5.001  b > a  ack 1001
      5.004  d.3 > b.3  1:1001)"));
  const Captured traffic = read({at_a, at_b});
  EXPECT_EQ(traffic.totals.packets, 4u);
  EXPECT_EQ(pair_packets(traffic), 4u);
  // d1 = 5.001 s one way, 4.999 s the other: 5 s within 1 ms.
  EXPECT_EQ(traffic.files[1].clock_offset_ns, 5'000'000'000);
  EXPECT_EQ(traffic.files[1].clock_uncertainty_ns, 1'000'000);
  EXPECT_LT(traffic.totals.last_ns - traffic.totals.first_ns, 10'000'000);
  EXPECT_NE(traffic.files[0].view, traffic.files[1].view);
}

TEST(ReadTraffic, FindsTheClocksOfRealHostsCaptures) {
  // Four hosts' captures of one job on one machine; their clocks were shifted afterwards by
  // 0, 21.3, -4.7 and 150.1 ms (the file beside them says so), so the truth is known.
  const std::string stem = std::string(TW_SOURCE_DIR) + "/tests/captures/ddp4_per_host.host";
  std::vector<std::string> paths;
  for (int host = 0; host < 4; ++host) paths.push_back(fmt::format("{}{}.pcap.zst", stem, host));
  if (!std::filesystem::exists(paths[3])) GTEST_SKIP() << stem << "*.pcap.zst is not there";
  const Captured traffic = read(paths);
  const std::array<std::int64_t, 4> shifts{0, 21'300'000, -4'700'000, 150'100'000};
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    ASSERT_TRUE(traffic.files[i].clock_known);
    EXPECT_LE(std::abs(traffic.files[i].clock_offset_ns - shifts[i]),
              traffic.files[i].clock_uncertainty_ns);
    EXPECT_LE(traffic.files[i].clock_uncertainty_ns, 100'000);
  }
  // Every packet was seen by its sender and by its receiver.
  std::uint64_t seen = 0;
  for (const FileSummary& file : traffic.files) seen += file.packets;
  EXPECT_NEAR(static_cast<double>(traffic.totals.packets), static_cast<double>(seen) / 2,
              0.01 * static_cast<double>(seen));
  const auto not_ip = static_cast<std::size_t>(packet::Verdict::NotIp);
  EXPECT_EQ(pair_packets(traffic) + traffic.totals.by_verdict[not_ip], traffic.totals.packets);
}

TEST(ReadTraffic, CountsWhatAnyInterfaceShowsTwiceOnce) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 10; ++i) {
    for (int copy = 0; copy < 2; ++copy) {
      text += fmt::format("{:.6f} a > b {}:{} id {}\n", 0.01 * i + 1e-6 * copy, 100 * i + 1,
                          100 * i + 101, i + 1);
    }
  }
  for (const std::uint32_t link_type : {113u, 276u}) {
    const Captured traffic =
        read({folder.file("any.pcap", capture::ladder_pcap(text, {.link_type = link_type}))});
    EXPECT_EQ(traffic.totals.packets, 10u);
    EXPECT_EQ(traffic.files[0].duplicates, 10u);
    EXPECT_EQ(traffic.flows.at(0).retransmitted_bytes, 0u);
  }
}

TEST(ReadTraffic, StopsWhenAsked) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 6000; ++i) text += fmt::format("+0.001 a > b udp {}\n", i % 100);
  const std::string path = folder.file("x.pcap", capture::ladder_pcap(text));
  const Captured traffic = read({path}, {.stop = [] { return true; }});
  EXPECT_GT(traffic.totals.packets, 0u);
  EXPECT_LT(traffic.totals.packets, 6000u);
  EXPECT_EQ(pair_packets(traffic), traffic.totals.packets);
}

TEST(ReadTraffic, TellsProgressAndRetiredFlows) {
  // 40,000 connections of one datagram, 10 ms apart: those older than 120 s go when room is needed.
  const TemporaryFolder folder;
  std::vector<std::byte> bytes;
  capture::Writer writer(capture::memory_sink(bytes), {});
  for (std::uint32_t i = 0; i < 40'000; ++i) {
    const packet::Frame frame = packet::make_frame({.source = packet::v4_address(1 + i % 3),
                                                    .destination = packet::v4_address(9),
                                                    .source_port = static_cast<std::uint16_t>(i),
                                                    .destination_port = 53,
                                                    .transport = packet::Transport::Udp,
                                                    .payload_bytes = 40});
    writer.write({.bytes = frame.bytes,
                  .original_bytes = frame.original_bytes,
                  .time_ns = std::int64_t{i} * 10'000'000,
                  .interface = 0,
                  .link = packet::Link::Ethernet});
  }
  writer.finish();
  std::uint64_t retired = 0;
  std::int64_t last = 0;
  ReadOptions options;
  options.progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, all);
    last = done;
  };
  options.retired = [&](const flow::Flow& flow, const std::vector<packet::Address>& addresses) {
    EXPECT_EQ(addresses.at(flow.key.destination).text(), "0.0.0.9");
    ++retired;
  };
  const Captured traffic = read({folder.file("x.pcapng", bytes)}, options);
  EXPECT_GT(retired, 0u);
  EXPECT_EQ(traffic.retired_flows, retired);
  EXPECT_EQ(traffic.retired_tiny_flows, retired);
  EXPECT_EQ(traffic.flows.size() + retired, 40'000u);
}

}  // namespace
}  // namespace tw::gather
