// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/partial.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/test_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace tw::gather {
namespace {

using capture::TemporaryFolder;

/// Files of one place: one, or several one after the other.
using Files = std::vector<std::string>;

/// The lines of a ladder in up to three runs, each a capture. Of a few packets nobody could tell whose
/// they are.
Files files_of(const std::string& ladder, const std::string& name, std::mt19937& random,
               const TemporaryFolder& folder) {
  Files files;
  std::size_t begin = 0;
  while (begin < ladder.size()) {
    constexpr std::size_t kLeast = 2000;  // letters: some 40 packets
    const std::size_t there = begin + kLeast + random() % ladder.size();
    const bool is_last = there + kLeast >= ladder.size();
    const std::size_t end = is_last ? ladder.size() : ladder.find('\n', there) + 1;
    files.push_back(folder.file(fmt::format("{}-{}.pcap", name, files.size()),
                                capture::ladder_pcap(ladder.substr(begin, end - begin))));
    begin = end;
  }
  return files;
}

Files all_of(const std::vector<Files>& places) {
  Files all;
  for (const Files& files : places) all.insert(all.end(), files.begin(), files.end());
  return all;
}

/// Five hosts speak over connections of all pairs; a capture at each, its clock some milliseconds
/// off. A packet arrives 50 us after it left.
std::vector<Files> captures_of(std::mt19937& random, const TemporaryFolder& folder) {
  constexpr std::array<char, 5> kHosts{'a', 'b', 'c', 'd', 'e'};
  std::array<std::string, 5> ladders;
  std::array<double, 5> clocks = {};
  for (double& clock : clocks) clock = 0.001 * static_cast<double>(random() % 5);
  std::array<std::array<unsigned, 5>, 5> next = {};
  double now = 0.01;
  const auto send = [&](std::size_t from, std::size_t to, const std::string& what) {
    const std::string line =
        fmt::format("{}.{} > {}.{}  {}\n", kHosts[from], 5000 + to, kHosts[to], 5000 + from, what);
    ladders[from] += fmt::format("{:.6f}  {}", now + clocks[from], line);
    ladders[to] += fmt::format("{:.6f}  {}", now + 0.00005 + clocks[to], line);
    now += 0.0002;
  };
  for (int i = 0; i < 200; ++i) {
    const std::size_t from = random() % 5;
    const std::size_t to = (from + 1 + random() % 4) % 5;
    const unsigned begin = 1 + next[from][to];
    const auto bytes = static_cast<unsigned>(100 + random() % 1300);
    next[from][to] += bytes;
    send(from, to, fmt::format("{}:{}", begin, begin + bytes));
    send(to, from, fmt::format("ack {}", begin + bytes));
  }
  std::vector<Files> places;
  for (std::size_t i = 0; i < ladders.size(); ++i) {
    places.push_back(files_of(ladders[i], fmt::format("host{}", i), random, folder));
  }
  return places;
}

void expect_same(const Captured& a, const Captured& b) {
  EXPECT_EQ(a.addresses, b.addresses);
  EXPECT_EQ(a.totals.packets, b.totals.packets);
  EXPECT_EQ(a.totals.wire_bytes, b.totals.wire_bytes);
  EXPECT_EQ(a.totals.first_ns, b.totals.first_ns);
  EXPECT_EQ(a.totals.last_ns, b.totals.last_ns);
  EXPECT_EQ(a.clock, b.clock);
  EXPECT_EQ(a.series.windows(), b.series.windows());
  ASSERT_EQ(a.pairs.size(), b.pairs.size());
  for (std::size_t i = 0; i < a.pairs.size(); ++i) {
    EXPECT_EQ(a.pairs[i].source, b.pairs[i].source);
    EXPECT_EQ(a.pairs[i].destination, b.pairs[i].destination);
    EXPECT_EQ(a.pairs[i].packets, b.pairs[i].packets);
    EXPECT_EQ(a.pairs[i].wire_bytes, b.pairs[i].wire_bytes);
    EXPECT_EQ(a.pairs[i].payload_bytes, b.pairs[i].payload_bytes);
    EXPECT_EQ(a.pairs[i].stream_bytes, b.pairs[i].stream_bytes);
    EXPECT_EQ(a.pairs[i].by_verdict, b.pairs[i].by_verdict);
  }
  ASSERT_EQ(a.flows.size(), b.flows.size());
  for (std::size_t i = 0; i < a.flows.size(); ++i) {
    EXPECT_EQ(a.flows[i].key, b.flows[i].key);
    EXPECT_EQ(a.flows[i].first_ns, b.flows[i].first_ns);
    EXPECT_EQ(a.flows[i].stream_bytes(), b.flows[i].stream_bytes());
    EXPECT_EQ(a.flows[i].stream.ended(), b.flows[i].stream.ended());
    EXPECT_EQ(a.flows[i].bursts.size(), b.flows[i].bursts.size());
    EXPECT_EQ(a.flows[i].series.windows(), b.flows[i].series.windows());
  }
  ASSERT_EQ(a.files.size(), b.files.size());
  for (std::size_t i = 0; i < a.files.size(); ++i) {
    EXPECT_EQ(a.files[i].path, b.files[i].path);
    EXPECT_EQ(a.files[i].packets, b.files[i].packets);
    EXPECT_EQ(a.files[i].clock_offset_ns, b.files[i].clock_offset_ns);
    EXPECT_EQ(a.files[i].view, b.files[i].view);
  }
}

capture::FileBytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Partial, MergesToWhatAllCapturesTogetherGiveHoweverTheyWereParted) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const TemporaryFolder folder;
    std::vector<Files> places = captures_of(random, folder);
    const Captured together = read_traffic(all_of(places));
    // Any of them in any order, some as parts, and parts of these, until few are left.
    for (int round = 0; round < 4; ++round) {
      std::shuffle(places.begin(), places.end(), random);
      const auto taken = static_cast<std::ptrdiff_t>(1 + random() % places.size());
      const std::vector<Files> some(places.begin(), places.begin() + taken);
      places.erase(places.begin(), places.begin() + taken);
      places.push_back({folder.file(fmt::format("round{}.part", round),
                                    bytes_of(encode_partial(read_partial(all_of(some)))))});
    }
    SCOPED_TRACE(fmt::format("seed {}, {} places left", seed, places.size()));
    expect_same(read_traffic(all_of(places)), together);
  }
}

TEST(Partial, IsRefusedWhenItIsCutOffOrChanged) {
  std::mt19937 random(1);
  const TemporaryFolder folder;
  const auto captures = captures_of(random, folder);
  const std::string bytes = encode_partial(read_partial(captures.front()));
  EXPECT_EQ(decode_partial(bytes, "x").size(), 1U);
  for (std::size_t cut = 0; cut < bytes.size(); cut += 97) {
    EXPECT_THROW(decode_partial(std::string_view(bytes).substr(0, cut), "x"), DataError);
  }
  std::string changed = bytes;
  changed[bytes.size() / 2] = static_cast<char>(changed[bytes.size() / 2] ^ 1);
  EXPECT_THROW(decode_partial(changed, "x"), DataError);
}

TEST(Partial, IsRefusedWithOtherWindows) {
  std::mt19937 random(1);
  const TemporaryFolder folder;
  const auto captures = captures_of(random, folder);
  ReadOptions other;
  other.table.window_ns = 3'000'000;
  std::vector<PartialView> parts = read_partial(captures[0]);
  parts.push_back(read_partial(captures[1], other).front());
  EXPECT_THROW(merge(parts), DataError);
}

}  // namespace
}  // namespace tw::gather
