// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/throughput.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tw::report {
namespace {

constexpr const char* kWindows =
    "scope,from,to,flow,start_ns,width_ns,wire_bytes\n"
    "total,,,,1000,1000,125\n"
    "total,,,,2000,1000,250\n"
    "pair,a,b,,2000,1000,200\n"
    "pair,a,c,,2000,1000,50\n"
    "pair,a,b,,1000,1000,125\n"
    "flow,a,b,0,1000,1000,125\n";

std::vector<Series> series_of(const std::string& text, const Limits& limits = {}) {
  std::istringstream in(text);
  result::TableReader table(in);
  return read_windows(table, {}, limits).series;
}

TEST(ReadWindows, AddsPairsUpToHosts) {
  const auto all = series_of(kWindows);
  // total; a sends 375, b receives 325, c receives 50; a > b, a > c.
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].group, "total");
  EXPECT_EQ(all[1].name, "a sends");
  EXPECT_EQ(all[1].bytes(), 375);
  ASSERT_EQ(all[1].windows.size(), 2U);
  EXPECT_EQ(all[1].windows[0].start_ns, 1000);
  EXPECT_EQ(all[1].windows[1].bytes, 250);
  EXPECT_EQ(all[4].name, "a > b");
}

TEST(ReadWindows, KeepsThoseThatCarriedTheMost) {
  const auto all = series_of(kWindows, {.hosts = 1, .pairs = 1});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[2].name, "b receives");
  EXPECT_EQ(all[3].name, "a > b");
}

TEST(ReadWindows, PassesOverRowsThatCannotBe) {
  EXPECT_TRUE(series_of("scope,from,to,flow,start_ns,width_ns,wire_bytes\n"
                        "total,,,,1,0,5\ntotal,,,,-1,10,5\ntotal,,,,1,10,-5\ntotal,,,,x,10,5\n")
                  .empty());
}

TEST(ReadWindows, TakesTheFlowsThatAreAskedFor) {
  std::istringstream in(std::string(kWindows) + "flow,a,b,7,2000,1000,9\n");
  result::TableReader table(in);
  const auto flows = read_windows(table, {0}, {}).flows;
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows.at(0).bytes(), 125);
}

TEST(SeriesDocument, CountsAnyNumberOfQuietWindowsWithoutHoldingThem) {
  // A window of 1 ns at the start and one 10^18 ns later: all between them were quiet.
  const Series series{.group = "total",
                      .name = "",
                      .width_ns = 1,
                      .windows = {{0, 1000}, {1'000'000'000'000'000'000, 1000}}};
  const auto document = series_document(series, 0, 4);
  EXPECT_EQ(document["rates"]["counts"].front().get<std::int64_t>(), 999'999'999'999'999'999);
  EXPECT_EQ(document["rates"]["counts"].back(), 2);
}

TEST(CloseDocument, KeepsWindowsAroundTheMiddleOneByOne) {
  // Windows 0 to 9 of 1 us, of which 4 to 6 carry 125 bytes: 1 Gbit/s. Four around number 6 are 4
  // to 7, and 7 is quiet.
  Series series{.group = "pair", .name = "a > b", .width_ns = 1000, .windows = {{0, 1}}};
  for (const std::int64_t i : {4, 5, 6}) series.windows.push_back({i * 1000, 125});
  series.windows.push_back({9000, 1});
  const auto document = close_document(series, 0, 6000, 4);
  EXPECT_DOUBLE_EQ(document["start_s"].get<double>(), 4e-6);
  EXPECT_EQ(document["rates"]["n"], 4);
  EXPECT_NEAR(document["rates"]["step"].get<double>() * 65534, 1e9, 1);
  EXPECT_EQ(document["rates"]["data"], "/v/+//7/AAA=");
}

TEST(CloseDocument, IsNothingWhereAllIsQuiet) {
  const Series series{
      .group = "pair", .name = "a > b", .width_ns = 1000, .windows = {{0, 1}, {1'000'000, 1}}};
  EXPECT_TRUE(close_document(series, 0, 500'000, 4).is_null());
}

TEST(SeriesDocument, GivesRatesInBitsPerSecond) {
  // 125 bytes in 1 us are 1 Gbit/s.
  const auto document = series_document(series_of(kWindows)[0], 500, 10);
  EXPECT_DOUBLE_EQ(document["start_s"].get<double>(), 500e-9);
  EXPECT_DOUBLE_EQ(document["bucket_s"].get<double>(), 1e-6);
  EXPECT_NEAR(document["mean"]["step"].get<double>() * 65534, 2e9, 1);
  EXPECT_FALSE(document.contains("max"));
}

TEST(SeriesDocument, CountsWindowsThatWereLeftOutAsQuiet) {
  // Windows 0, 1 and 9 of ten, 1000 bytes each, in two buckets of five: the first carries 2000, the
  // second 1000; in both the quietest is 0.
  const Series series{.group = "total",
                      .name = "",
                      .width_ns = 1000,
                      .windows = {{0, 1000}, {1000, 1000}, {9000, 1000}}};
  const auto document = series_document(series, 0, 2);
  EXPECT_EQ(document["mean"]["n"], 2);
  EXPECT_NEAR(document["mean"]["step"].get<double>() * 65534, 2000 * 8 / 5e-6, 1);
  EXPECT_NEAR(document["max"]["step"].get<double>() * 65534, 1000 * 8 / 1e-6, 1);
  EXPECT_EQ(document["min"]["data"], "AAAAAA==");
}

}  // namespace
}  // namespace tw::report
