// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/flows.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tw::report {
namespace {

using nlohmann::ordered_json;

TEST(FlowsDocument, SortsFlowsByClass) {
  std::istringstream text(
      "class,first_ns,last_ns,stream_bytes,rtt_mean_ns\n"
      "gradient,0,1000000000,1000,2000000\n"
      "gradient,0,0,500,\n"
      "control,0,500000000,10,\n");
  result::TableReader table(text);
  const auto document = flows_document(table, {});
  EXPECT_EQ(document["gradient"]["bytes"]["n"], 2);
  // 1,000 bytes in a second; the flow of one packet has no duration.
  EXPECT_EQ(document["gradient"]["rate_bps"]["q"], ordered_json({8000.0}));
  EXPECT_EQ(document["gradient"]["rtt_s"]["q"], ordered_json({0.002}));
  EXPECT_TRUE(document["control"]["rtt_s"].is_null());
}

TEST(CrossFlowsDocument, SortsCompletionTimesBySizeAndCountsTheUnfinished) {
  std::istringstream text(
      "traffic,flow,start_ns,bytes,end_ns\n"
      "0,0,0,99999,1000000\n"
      "0,1,0,100000,2000000\n"
      "0,2,0,100001,\n"
      "1,0,0,20000000,5000000\n");
  result::TableReader table(text);
  const auto list = cross_flows_document(table, {});
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0]["completion_s"]["q"], ordered_json({0.001}));
  EXPECT_EQ(list[1]["completion_s"]["q"], ordered_json({0.002}));
  EXPECT_EQ(list[1]["unfinished"], 1);
  EXPECT_EQ(list[2]["traffic"], 1);
  EXPECT_TRUE(list[2]["to_bytes"].is_null());
}

TEST(MatrixDocument, KeepsTheHostsThatMoveTheMost) {
  std::istringstream text("from,to,wire_bytes\na,b,10\nb,a,5\nc,a,1\n");
  result::TableReader table(text);
  // a moves 16, b 15, c 1.
  const auto document = matrix_document(table, {.matrix_hosts = 2});
  EXPECT_EQ(document["hosts"], ordered_json({"a", "b"}));
  EXPECT_EQ(document["bytes"], ordered_json({{0.0, 10.0}, {5.0, 0.0}}));
  EXPECT_EQ(document["left_off"], 1);
}

}  // namespace
}  // namespace tw::report
