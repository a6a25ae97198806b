// SPDX-License-Identifier: Apache-2.0
// Our conversations against tshark's: the same addresses, ports, packets and bytes in both
// directions, file by file.

#include "trainwire/capture/test_files.h"
#include "trainwire/gather/captured.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

namespace tw::gather {
namespace {

using capture::TemporaryFolder;

std::string output_of(const std::string& command) {
  const auto close = [](std::FILE* file) { ::pclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(::popen(command.c_str(), "r"), close);
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    output.append(buffer.data(), n);
  }
  return output;
}

struct Count {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Count&) const = default;
};
/// By "address:port address:port", source first.
using Conversations = std::map<std::string, Count>;

/// Sums over tshark's packets rather than its table, which rounds bytes to kilobytes.
Conversations tsharks(const std::string& path) {
  std::istringstream lines(output_of(fmt::format(
      "tshark -n -r '{}' -o ip.defragment:FALSE -o tcp.desegment_tcp_streams:FALSE -Y tcp -T "
      "fields "
      "-E separator=' ' -E occurrence=f -e ip.src -e ipv6.src -e tcp.srcport -e ip.dst -e ipv6.dst "
      "-e tcp.dstport -e frame.len 2>/dev/null",
      path)));
  Conversations result;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string from, from_port, to, to_port;
    std::uint64_t bytes = 0;
    words >> from >> from_port >> to >> to_port >> bytes;
    Count& count = result[fmt::format("{}:{} {}:{}", from, from_port, to, to_port)];
    ++count.packets;
    count.bytes += bytes;
  }
  return result;
}

/// How many TCP conversations -z conv,tcp lists.
std::size_t tsharks_table(const std::string& path) {
  std::istringstream lines(
      output_of(fmt::format("tshark -n -r '{}' -q -z conv,tcp 2>/dev/null", path)));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find("<->") != line.npos ? 1 : 0;
  return count;
}

Conversations ours(const Captured& traffic) {
  Conversations result;
  for (const flow::Flow& flow : traffic.flows) {
    if (!flow.key.is_tcp()) continue;
    Count& count = result[fmt::format(
        "{}:{} {}:{}", traffic.addresses[flow.key.source].text(), flow.key.source_port,
        traffic.addresses[flow.key.destination].text(), flow.key.destination_port)];
    count.packets += flow.packets;
    count.bytes += flow.wire_bytes;
  }
  return result;
}

/// Directed flows that differ; each is printed.
int disagreements(const std::string& path) {
  const Captured traffic = read_traffic(std::vector{path});
  EXPECT_EQ(traffic.retired_flows, 0u) << "a file with so many flows cannot be compared";
  Conversations mine = ours(traffic);
  Conversations theirs = tsharks(path);
  EXPECT_FALSE(theirs.empty()) << path << ": tshark says nothing";
  int count = 0;
  for (const auto& [name, theirs_of] : theirs) {
    if (mine[name] == theirs_of) continue;
    ++count;
    ADD_FAILURE() << path << " " << name << ": ours " << mine[name].packets << " packets "
                  << mine[name].bytes << " bytes, tshark " << theirs_of.packets << " and "
                  << theirs_of.bytes;
  }
  EXPECT_EQ(mine.size(), theirs.size()) << path;
  return count;
}

std::map<std::string, std::string_view> ladders() {
  return {{"handshake", "0 a > b S\n0.1 b > a S ack 1\n0.2 a > b 1:1001\n0.3 b > a ack 1001"},
          {"loss", "0 a > b 1:1001\n0.1 a > b 2001:3001\n0.4 a > b 1001:2001\n0.5 a > b 1:1001"},
          {"keep_alive", "0 a > b 1:1001\n60 a > b 1000:1001\n60.1 b > a ack 1001"},
          {"restart", "0 a > b S\n0.1 a > b 1:11\n0.2 a > b F\n1 a > b S 5000:5000\n2 a > b R"},
          {"several", "0 a.1 > b.2 1:9\n0 b.2 > c.1 1:9\n0 c.1 > b.2 ack 9\n0 a.1 > c.2 udp 9"},
          {"super_frames", "0 a > b 1:60001\n0.1 a > b 60001:120001\n0.2 b > a ack 120001"}};
}

std::vector<std::string> captures_in_the_tree() {
  std::vector<std::string> paths;
  const std::filesystem::path folder = std::filesystem::path(TW_SOURCE_DIR) / "tests/captures";
  if (!std::filesystem::exists(folder)) return paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().find(".pcap") == std::string::npos) continue;
    if (entry.file_size() > 0 && entry.file_size() < 100'000) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool has_tshark() { return !output_of("command -v tshark").empty(); }

TEST(Oracle, TsharkCountsTheSameConversations) {
  if (!has_tshark()) GTEST_SKIP() << "tshark is not installed";
  const TemporaryFolder folder;
  std::vector<std::string> paths;
  for (const auto& [name, text] : ladders()) {
    for (const bool v6 : {false, true}) {
      const capture::LadderOptions options{.isn = 0xfffffc18, .reply_isn = 0xffffffff, .v6 = v6};
      paths.push_back(folder.file(fmt::format("{}_{}.pcap", name, v6 ? 6 : 4),
                                  capture::ladder_pcap(text, options)));
    }
  }
  int wrong = 0;
  for (const std::string& path : paths) wrong += disagreements(path);
  // One start of tshark costs half a second: a few of the tree's captures, spread over all.
  const std::vector<std::string> stored = captures_in_the_tree();
  for (std::size_t i = 0; i < stored.size(); i += std::max<std::size_t>(stored.size() / 4, 1)) {
    if (tsharks_table(stored[i]) == 0) continue;  // no TCP
    paths.push_back(stored[i]);
    wrong += disagreements(stored[i]);
  }
  fmt::print("{} files compared with tshark, {} conversations disagree\n", paths.size(), wrong);
  EXPECT_EQ(wrong, 0);
}

TEST(Oracle, TsharkListsAsManyConversations) {
  if (!has_tshark()) GTEST_SKIP() << "tshark is not installed";
  const TemporaryFolder folder;
  for (const auto& [name, text] : ladders()) {
    const std::string path = folder.file(name + ".pcap", capture::ladder_pcap(text));
    // Both directions of ours are one line of tshark's. Both begin anew at the SYN in "restart".
    const Captured traffic = read_traffic(std::vector{path});
    std::size_t tcp = 0;
    for (const flow::Flow& flow : traffic.flows) {
      if (!flow.key.is_tcp()) continue;
      const bool has_reverse =
          std::any_of(traffic.flows.begin(), traffic.flows.end(), [&](const flow::Flow& other) {
            return other.key.source == flow.key.destination &&
                   other.key.destination == flow.key.source &&
                   other.key.source_port == flow.key.destination_port &&
                   other.key.destination_port == flow.key.source_port;
          });
      tcp += has_reverse ? 1 : 2;
    }
    EXPECT_EQ(tcp / 2, tsharks_table(path)) << name;
  }
}

}  // namespace
}  // namespace tw::gather
