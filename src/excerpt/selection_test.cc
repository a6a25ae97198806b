// SPDX-License-Identifier: Apache-2.0
#include "trainwire/excerpt/selection.h"

#include "trainwire/diagnose/finding_kinds.h"

#include <gmock/gmock.h>

namespace tw::excerpt {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

packet::Address address(const char* text) { return packet::parse_address(text); }

/// Hosts a (two addresses) and b; flow 0 carries gradients from a to b, flow 1 something else back.
struct Pair {
  gather::Captured traffic = {};
  diagnose::Analysis analysis = {};

  Pair() {
    traffic.addresses = {{}, address("10.0.0.1"), address("10.0.1.1"), address("10.0.0.2")};
    traffic.flows = {flow::Flow{.key = {1, 3, 5000, 6000, 6}}, flow::Flow{.key = {3, 1, 7, 8, 17}}};
    traffic.flows[0].payload_bytes = 1000;
    traffic.flows[1].payload_bytes = 500;
    analysis.hosts = {{.name = "a", .addresses = {1, 2}}, {.name = "b", .addresses = {3}}};
    analysis.classes = {diagnose::FlowClass::Gradient, diagnose::FlowClass::Control};
    analysis.bottleneck = diagnose::Bottleneck{"a", "b", 1e6, 1, ""};
    analysis.straggler = diagnose::Straggler{"b", 1, 1, ""};
    analysis.iterations.steps = {{.start_ns = 1'000'000'007,
                                  .end_ns = 2'000'000'000,
                                  .exchange_start_ns = 1'500'000'000,
                                  .exchange_end_ns = 1'900'000'000,
                                  .bytes = 1,
                                  .packets = 1}};
  }
  std::string filter_of(std::string_view kind) {
    analysis.findings = {{"", diagnose::Severity::Info, std::string(kind)}};
    return wireshark_filter(of_finding(analysis, traffic, 0));
  }
};

TEST(Selection, OfASlowLinkIsEveryAddressOfItsEnds) {
  EXPECT_EQ(Pair().filter_of(diagnose::kSlowLink),
            "((ip.src == 10.0.0.1 && ip.dst == 10.0.0.2) || "
            "(ip.src == 10.0.1.1 && ip.dst == 10.0.0.2))");
}

TEST(Selection, OfAStragglerIsWhatItSends) {
  EXPECT_EQ(Pair().filter_of(diagnose::kStraggler), "ip.src == 10.0.0.2");
}

TEST(Selection, OfStepsIsThePairsThatCarryGradients) {
  EXPECT_EQ(Pair().filter_of(diagnose::kSteps), "ip.src == 10.0.0.1 && ip.dst == 10.0.0.2");
}

TEST(Selection, OfOtherTrafficIsItsFlows) {
  EXPECT_EQ(Pair().filter_of(diagnose::kOtherTraffic),
            "ip.src == 10.0.0.2 && ip.dst == 10.0.0.1 && udp.srcport == 7 && udp.dstport == 8");
}

TEST(Selection, OfWhatWasSentAgainIsItsFlowsAndWiresharksWordForIt) {
  Pair pair;
  pair.traffic.flows[0].retransmitted_bytes = 10;
  EXPECT_EQ(pair.filter_of(diagnose::kSentAgain),
            "ip.src == 10.0.0.1 && ip.dst == 10.0.0.2 && tcp.srcport == 5000 && tcp.dstport == "
            "6000 && tcp.analysis.retransmission");
}

TEST(Selection, OfTheFirstStepIsItsTime) {
  EXPECT_EQ(Pair().filter_of(diagnose::kFirstStep),
            "frame.time_epoch >= 1.000000007 && frame.time_epoch <= 2.000000000");
}

TEST(Selection, OfNothingInParticularIsEverything) {
  EXPECT_THAT(Pair().filter_of(diagnose::kNoTraining), IsEmpty());
}

TEST(Selection, SpeaksOfIpv6InItsWords) {
  EXPECT_EQ(wireshark_filter({.ways = {{.from = address("fd00::1")}}}), "ipv6.src == fd00::1");
}

TEST(Selection, SelectsWhatItsFilterSays) {
  const Selection selection{.ways = {{.from = address("10.0.0.1"),
                                      .to = address("10.0.0.2"),
                                      .protocol = 6,
                                      .from_port = 5000,
                                      .to_port = 6000}},
                            .from_ns = 10};
  packet::Packet packet{};
  packet.time_ns = 10;
  packet.ip_protocol = 6;
  packet.source_port = 5000;
  packet.destination_port = 6000;
  const auto selected = [&](const char* from, const char* to) {
    return selects(selection, packet, address(from), address(to));
  };
  EXPECT_TRUE(selected("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(selected("10.0.0.2", "10.0.0.1"));
  packet.source_port = 5001;
  EXPECT_FALSE(selected("10.0.0.1", "10.0.0.2"));
  packet.source_port = 5000;
  packet.time_ns = 9;
  EXPECT_FALSE(selected("10.0.0.1", "10.0.0.2"));
}

}  // namespace
}  // namespace tw::excerpt
