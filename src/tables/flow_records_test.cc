// SPDX-License-Identifier: Apache-2.0
#include "trainwire/tables/flow_records.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::tables {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using Ends = std::pair<std::string, std::string>;

// 10.0.0.1 sends 700 bytes to 10.0.0.2 in 5 packets and gets 300 in 4, whoever counts it.
void expect_the_flow(std::string_view text, std::string_view program, std::uint64_t payload) {
  const FlowRecords found = parse_flow_records(text, "x");
  EXPECT_EQ(found.program, program) << text;
  EXPECT_THAT(found.pairs, ElementsAre(Pair(Ends("10.0.0.1", "10.0.0.2"), Sent{5, 700, payload}),
                                       Pair(Ends("10.0.0.2", "10.0.0.1"),
                                            Sent{4, 300, payload == 0 ? 0U : 80U})))
      << text;
}

constexpr std::string_view kZeek =
    "#separator \\x09\n#set_separator\t,\n#path\tconn\n"
    "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tduration\torig_"
    "bytes\tresp_bytes\tconn_state\torig_pkts\torig_ip_bytes\tresp_pkts\tresp_ip_bytes\n"
    "#types\ttime\tstring\taddr\tport\taddr\tport\tenum\tstring\tinterval\tcount\tcount\tstring\t"
    "count\tcount\tcount\tcount\n"
    "1.5\tC1\t10.0.0.1\t5\t10.0.0.2\t6\ttcp\t-\t1.5\t400\t80\tSF\t5\t700\t4\t300\n"
    "#close\t2026-01-01-00-00-00\n";

TEST(FlowRecords, OfEveryProgramAreTheSame) {
  expect_the_flow(kZeek, "zeek", 400);
  expect_the_flow(
      R"({"ts":1.5,"id.orig_h":"10.0.0.1","id.orig_p":5,"id.resp_h":"10.0.0.2","orig_bytes":400,"resp_bytes":80,"orig_pkts":5,"orig_ip_bytes":700,"resp_pkts":4,"resp_ip_bytes":300})"
      "\n",
      "zeek", 400);
  // nfdump 1.7.1 and its summary; then as later ones print it.
  expect_the_flow(
      "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt,in,out\n"
      "2026-11-17 09:55:43,2026-11-17 "
      "09:55:43,0.000,10.0.0.1,10.0.0.2,5,6,TCP,...,0,0,5,700,0,0,0,0\n"
      "2026-11-17 09:55:43,2026-11-17 "
      "09:55:43,0.000,10.0.0.2,10.0.0.1,6,5,TCP,...,0,0,4,300,0,0,0,0\n"
      "Summary\nflows,bytes,packets,avg_bps,avg_pps,avg_bpp\n2,1000,9,1,1,1\n",
      "nfdump", 0);
  expect_the_flow(
      "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n"
      "2026-11-17 09:55:43.494,0.000,TCP,10.0.0.1,5,10.0.0.2,6,5,700,1\n"
      "2026-11-17 09:55:43.494,0.000,TCP,10.0.0.2,6,10.0.0.1,5,4,300,1\n",
      "nfdump", 0);
  expect_the_flow(
      "StartTime,Dur,Proto,SrcAddr,Sport,Dir,DstAddr,Dport,SrcPkts,DstPkts,SrcBytes,DstBytes\n"
      "10:01:41.826140,0.001740,man,0,0,,0,0,0,0,0,0\n"
      "09:55:43.327660,0.000175,tcp,10.0.0.1,5,   ->,10.0.0.2,6,5,4,700,300\n",
      "argus", 0);
  expect_the_flow(
      "=====\nIPv4 Conversations\nFilter:<No Filter>\n"
      "          |       <-      | |       ->      | |     Total     |    Relative    |   "
      "Duration\n"
      "10.0.0.1            <-> 10.0.0.2                4 300 bytes     5 700 bytes      9 1000 "
      "bytes       0.165574000         6.6996\n=====\n",
      "tshark", 0);
}

TEST(FlowRecords, RowsThatAreCutOffAreCounted) {
  const auto cut_off = [](const std::string& text) {
    return parse_flow_records(text, "x").skipped["rows that are cut off"];
  };
  EXPECT_EQ(cut_off(std::string(kZeek)), 0U);
  EXPECT_EQ(cut_off(std::string(kZeek) + "1.6\tC2\t10.0.0.1\n"), 1U);
  const std::string nfdump =
      "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n"
      "2026-11-17 09:55:43.494,0.000,TCP,10.0.0.1,5,10.0.0.2,6,5,700,1\n";
  const std::string summary =
      "Summary\nflows,bytes,packets,avg_bps,avg_pps,avg_bpp\n2,1000,9,1,1,1\n";
  EXPECT_EQ(cut_off(nfdump + summary), 0U);
  EXPECT_EQ(cut_off(nfdump + "2026-11-17 09:55:43.494,0.000,TC\n" + summary), 1U);
  const std::string talks =
      "=====\nIPv4 Conversations\nFilter:<No Filter>\n"
      "          |       <-      | |       ->      | |     Total     |\n"
      "10.0.0.1   <-> 10.0.0.2    4 300 bytes     5 700 bytes      9 1000 bytes   0.1     6.6\n";
  EXPECT_EQ(cut_off(talks + "=====\n"), 0U);
  EXPECT_EQ(cut_off(talks + "10.0.0.1   <-> 10.0.0.3  x y z\n=====\n"), 1U);
  EXPECT_EQ(cut_off(talks + "10.0.0.1   <-> 10.0.0.3  x y z u v w\n"), 1U);
}

TEST(FlowRecords, FieldsOfTsharkAreAPacketARow) {
  const FlowRecords found = parse_flow_records(
      "frame.time_epoch\tip.src\tip.dst\ttcp.srcport\ttcp.dstport\tframe.len\ttcp.len\n"
      "1.0\t10.0.0.1\t10.0.0.2\t5\t6\t1514\t1448\n1.1\t10.0.0.1\t10.0.0.2\t5\t6\t66\t0\n"
      "1.2\t\t\t\t\t60\t\n",
      "x");
  EXPECT_THAT(found.pairs, ElementsAre(Pair(Ends("10.0.0.1", "10.0.0.2"), Sent{2, 1580, 1448})));
  EXPECT_EQ(found.skipped.at("rows without addresses"), 1U);
}

TEST(FlowRecords, OfBothDirectionsTogetherSayWhatToAskFor) {
  try {
    parse_flow_records(
        "StartTime,Flgs,Proto,SrcAddr,Sport,Dir,DstAddr,Dport,TotPkts,TotBytes,State\n"
        "09:55:43.327660, e ,tcp,10.77.0.4,50682,   ->,10.77.0.1,29500,2,128,RST\n",
        "x");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ask ra for -s"));
  }
}

TEST(FlowRecords, CutAnywhereAreFewerOrAnError) {
  for (std::size_t cut = 0; cut < kZeek.size(); ++cut) {
    try {
      EXPECT_LE(parse_flow_records(kZeek.substr(0, cut), "x").pairs.size(), 2U);
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("who sent how much")) << cut;
    }
  }
}

TEST(FlowRecords, OtherTextIsNone) {
  EXPECT_EQ(flow_program_of("a,b,c\n1,2,3\n"), "");
  EXPECT_EQ(flow_program_of("{\"a\": 1}"), "");
}

TEST(FlowRecords, ConversationsWithPortsAndGroupedDigits) {
  const FlowRecords found = parse_flow_records(
      "=====\nTCP Conversations\nFilter:<No Filter>\n"
      "10.0.0.1:40000   <-> 10.0.0.2:29500   350 18 kB   700 1,036 kB   1050 1,055 kB  0.0  60.5\n",
      "x");
  EXPECT_THAT(found.pairs, ElementsAre(Pair(Ends("10.0.0.1", "10.0.0.2"), Sent{700, 1'036'000, 0}),
                                       Pair(Ends("10.0.0.2", "10.0.0.1"), Sent{350, 18'000, 0})));
  EXPECT_THAT(found.limits, ElementsAre(HasSubstr("rounded")));
}

TEST(FlowRecords, WhatRaPrintsByItselfIsRefusedWithWhatToAskFor) {
  constexpr std::string_view kHeader =
      "         StartTime      Flgs  Proto            SrcAddr  Sport   Dir            DstAddr  "
      "Dport "
      " TotPkts   TotBytes State \n"
      "   10:00:00.100000  e           tcp           10.0.0.1.40000     ->           "
      "10.0.0.2.29500 "
      "     1050    1055100   CON\n";
  EXPECT_EQ(flow_program_of(kHeader), "argus");
  try {
    parse_flow_records(kHeader, "x");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("-s saddr daddr spkts dpkts sbytes dbytes"));
  }
  expect_the_flow(
      "SrcAddr DstAddr SrcPkts DstPkts SrcBytes DstBytes\n10.0.0.1 10.0.0.2 5 4 700 300\n", "argus",
      0);
}

TEST(FlowRecords, ReadsZeekThatWasCopiedFromATerminal) {
  const FlowRecords blanks = parse_flow_records(
      "#path conn\n#fields ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto service duration "
      "orig_bytes resp_bytes orig_pkts orig_ip_bytes resp_pkts resp_ip_bytes tunnel_parents\n"
      "#types time string addr port addr port enum string interval count count count count count "
      "count set[string]\n"
      "1521911721.25 C8Tf 10.0.0.1 39681 10.0.0.2 3389 tcp - 0.004 97 19 10 730 6 342 -\n",
      "conn.log");
  EXPECT_EQ(blanks.program, "zeek");
  ASSERT_EQ(blanks.pairs.size(), 2U);
  EXPECT_EQ(blanks.pairs.at({"10.0.0.1", "10.0.0.2"}).bytes, 730U);
  const FlowRecords shown = parse_flow_records(
      "zeek@zeek:~$ jq . -c conn.log\n"
      "{\"id.orig_h\":\"10.0.0.1\",\"id.resp_h\":\"10.0.0.2\",\"orig_bytes\":62,\"resp_bytes\":141,"
      "\"orig_pkts\":2,\"orig_ip_bytes\":118,\"resp_pkts\":2,\"resp_ip_bytes\":197}\n",
      "conn.log");
  EXPECT_EQ(shown.pairs.at({"10.0.0.2", "10.0.0.1"}).bytes, 197U);
}

// ra with TotBytes and SrcBytes, as published traces have them: the other direction is what remains.
TEST(FlowRecords, TakesTheOtherDirectionOfArgusFromTheSum) {
  const FlowRecords found = parse_flow_records(
      "StartTime,Dur,Proto,SrcAddr,Sport,Dir,DstAddr,Dport,State,sTos,dTos,TotPkts,TotBytes,"
      "SrcBytes\n"
      "2011/08/10 09:46:53.0,3.1,tcp,10.0.0.1,1027,   ->,10.0.0.2,80,S_RA,0,0,4,244,124\n"
      "2011/08/10 09:46:59.6,0.0,udp,10.0.0.2,53,  <->,10.0.0.1,1025,CON,0,0,2,276,79\n",
      "flows.csv");
  EXPECT_EQ(found.program, "argus");
  EXPECT_EQ(found.pairs.at({"10.0.0.1", "10.0.0.2"}).bytes, 124U + 276U - 79U);
  EXPECT_EQ(found.pairs.at({"10.0.0.2", "10.0.0.1"}).bytes, 244U - 124U + 79U);
}

}  // namespace
}  // namespace tw::tables
