// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/flow_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tw::report {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFlows =
    "flow,source,source_port,destination,destination_port,protocol,class,first_ns,last_ns,"
    "wire_bytes\n"
    "0,b,10,a,20,tcp,gradient,0,1000000000,500\n"
    "1,a,20,b,10,tcp,acknowledgement,0,1000000000,50\n"
    "2,a,30,b,40,tcp,gradient,500000000,1000000000,900\n"
    "3,a,30,c,,icmp,tiny,5,4,900\n";

FlowRows rows_of(const std::string& text, const Limits& limits = {}) {
  std::istringstream in(text);
  result::TableReader table(in);
  return read_flow_rows(table, limits);
}

ordered_json transfers_of(const std::string& rows, const Limits& limits = {}) {
  std::istringstream in("iteration,from,to,gradient_bytes,first_ns,last_ns\n" + rows);
  result::TableReader table(in);
  return transfers_document(table, 1000, limits);
}

TEST(ReadFlowRows, GroupsFlowsByTheirHosts) {
  // Flow 3 ends before it begins and is passed over.
  const FlowRows flows = rows_of(kFlows);
  ASSERT_EQ(flows.rows.size(), 3U);
  EXPECT_EQ(flows.rows[0].number, 1);
  EXPECT_EQ(flows.rows[1].number, 2);
  EXPECT_EQ(flows.rows[2].number, 0);
  EXPECT_EQ(flows.left_off, 0U);
}

TEST(ReadFlowRows, KeepsThoseThatCarryTheMost) {
  const FlowRows flows = rows_of(kFlows, {.flows = 2});
  EXPECT_EQ(flows.numbers(), (std::set<std::int64_t>{0, 2}));
  EXPECT_EQ(flows.left_off, 1U);
  EXPECT_EQ(flows.left_off_bytes, 50);
}

TEST(FlowRowsDocument, GivesRatesInCellsOfWholeWindows) {
  // 64 windows of 1 us in at most 32 cells: two windows each. Windows 4 and 5 are cell 2 and carry
  // 250 + 250 bytes in 2 us: 2 Gbit/s.
  const FlowRows flows = rows_of(kFlows);
  std::map<std::int64_t, Series> series;
  series[0] = {.group = "flow", .name = "", .width_ns = 1000, .windows = {{0, 1}, {63'000, 1}}};
  series[2] = {
      .group = "flow", .name = "", .width_ns = 1000, .windows = {{4000, 250}, {5000, 250}}};
  const auto document = flow_rows_document(flows, series, 0, {.flow_cells = 96});
  EXPECT_DOUBLE_EQ(document["cell_s"].get<double>(), 2e-6);
  const ordered_json& row = document["rows"][1];
  EXPECT_EQ(row["source"], "a:30");
  EXPECT_EQ(row["class"], "gradient");
  EXPECT_EQ(row["cell"], 2);
  EXPECT_EQ(row["rates"]["n"], 1);
  EXPECT_NEAR(row["rates"]["step"].get<double>() * 65534, 2e9, 1);
  EXPECT_FALSE(document["rows"][0].contains("rates"));
}

TEST(FlowRowsDocument, PutsAddressesWithColonsInBrackets) {
  const auto flows = rows_of(
      "flow,source,source_port,destination,destination_port,protocol,class,first_ns,last_ns,"
      "wire_bytes\n0,fd00::1,7,fd00::2,,icmp,tiny,0,1,5\n");
  const auto document = flow_rows_document(flows, {}, 0, {});
  EXPECT_EQ(document["rows"][0]["source"], "[fd00::1]:7");
  EXPECT_EQ(document["rows"][0]["destination"], "fd00::2");
}

TEST(TransfersDocument, ListsWhatPairsCarriedSinceTheOrigin) {
  const auto document = transfers_of("0,a,b,100,1000,5000\n1,b,a,300,11000,12000\n");
  EXPECT_EQ(document["pairs"], ordered_json::parse(R"([["a", "b"], ["b", "a"]])"));
  EXPECT_EQ(document["pair"], ordered_json({0, 1}));
  EXPECT_EQ(document["start_us"], ordered_json({0, 10}));
  EXPECT_EQ(document["length_us"], ordered_json({4, 1}));
  EXPECT_EQ(document["iterations"], 2);
  EXPECT_EQ(document["sizes"]["q"], ordered_json({100.0, 300.0}));
}

TEST(TransfersDocument, KeepsWholeIterations) {
  // Two pairs in each of five iterations: of at most five entries, two iterations have room.
  std::string rows;
  for (int i = 0; i < 5; ++i) rows += fmt::format("{0},a,b,1,0,1\n{0},b,a,1,0,1\n", i);
  const auto document = transfers_of(rows, {.transfers = 5});
  EXPECT_EQ(document["iteration"], ordered_json({0, 0, 1, 1}));
  EXPECT_EQ(document["iterations"], 5);
  EXPECT_EQ(document["sizes"]["n"], 10);
}

TEST(TransfersDocument, KeepsThePairsThatCarriedTheMost) {
  const auto document = transfers_of("0,a,b,1,0,1\n0,b,c,9,0,1\n", {.flows = 1});
  EXPECT_EQ(document["pairs"], ordered_json::parse(R"([["b", "c"]])"));
  EXPECT_EQ(document["left_off_pairs"], 1);
}

TEST(TransfersDocument, IsNothingWithoutRows) { EXPECT_TRUE(transfers_of("").is_null()); }

TEST(IterationsDocument, CountsThoseThatItLeavesOff) {
  std::istringstream in(
      "start_ns,end_ns,exchange_start_ns\n1000,3000,2000\n3000,5000,4000\n5000,7000,6000\n");
  result::TableReader table(in);
  const auto document = iterations_document(table, 1000, {.steps = 2});
  EXPECT_EQ(document["start_us"], ordered_json({0, 2}));
  EXPECT_EQ(document["end_us"], ordered_json({2, 4}));
  EXPECT_EQ(document["middle_us"], 3);
  EXPECT_EQ(document["count"], 3);
}

}  // namespace
}  // namespace tw::report
