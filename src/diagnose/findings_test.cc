// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/findings.h"

#include "trainwire/diagnose/finding_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tw::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Analysis ring_of_three() {
  Analysis analysis;
  analysis.iterations.steps.resize(20);
  analysis.iterations.median_s = 0.1;
  analysis.iterations.ci_low_s = 0.099;
  analysis.iterations.ci_high_s = 0.101;
  analysis.iterations.exchange_s = 0.04;
  analysis.iterations.compute_gap_s = 0.06;
  analysis.iterations.confidence = 0.9;
  analysis.collectives.push_back({.operation = "all_reduce",
                                  .strategy = "ring",
                                  .order = {"a", "c", "b"},
                                  .bytes_per_iteration = 25'000'000,
                                  .confidence = 0.9,
                                  .evidence = ""});
  return analysis;
}

TEST(FindingsOf, SayWhoExchangesHowMuchInWhichOrder) {
  const auto findings = findings_of(ring_of_three(), gather::Captured{}, "");
  EXPECT_THAT(findings[0].text, HasSubstr("20 iterations of 100 ms"));
  EXPECT_THAT(findings[0].text, HasSubstr("25 MB of gradients in each, ring of 3: a→c→b"));
  EXPECT_THAT(findings[1].text, HasSubstr("40 % of an iteration"));
}

TEST(FindingsOf, BeginWithTheTrouble) {
  Analysis analysis = ring_of_three();
  analysis.straggler = Straggler{"b", 0.02, 0.9, "late"};
  analysis.bottleneck = Bottleneck{"a", "c", 2e8, 0.5, "busy"};
  const auto findings = findings_of(analysis, gather::Captured{}, "");
  EXPECT_THAT(findings[0].text, HasSubstr("a→c is the slow link, at 200 Mbit/s (guessed)"));
  EXPECT_EQ(findings[0].severity, Severity::Warning);
  EXPECT_THAT(findings[1].text, HasSubstr("b starts 20 ms late:"));
}

TEST(FindingsOf, AreOfKindsThatAreDescribed) {
  Analysis analysis = ring_of_three();
  analysis.straggler = Straggler{"b", 0.02, 0.9, "late"};
  analysis.bottleneck = Bottleneck{"a", "c", 2e8, 0.5, "busy"};
  analysis.iterations.other = {.count = 80, .median_s = 0.025, .probability = 0.3};
  for (const Finding& finding : findings_of(analysis, gather::Captured{}, "")) {
    const auto kinds = finding_kinds();
    EXPECT_TRUE(std::any_of(kinds.begin(), kinds.end(), [&](const FindingKind& kind) {
      return kind.name == finding.kind;
    })) << finding.text;
  }
}

TEST(FindingsOf, NameAnotherReadingOfTheSteps) {
  Analysis analysis = ring_of_three();
  analysis.iterations.other = {.count = 80, .median_s = 0.025, .probability = 0.3};
  EXPECT_THAT(findings_of(analysis, gather::Captured{}, "")[1].text,
              HasSubstr("could also be 80 iterations of 25 ms (probability 0.30)"));
}

TEST(FindingsOf, SpeakOfNoGradientsWithoutAStrategy) {
  Analysis analysis = ring_of_three();
  analysis.collectives.clear();
  const auto findings = findings_of(analysis, gather::Captured{}, "", "it does not show");
  EXPECT_THAT(findings[0].text, HasSubstr("; it does not show"));
  EXPECT_THAT(findings[1].text,
              HasSubstr("an exchange takes 40 ms from its first byte to its last"));
}

TEST(FindingsOf, NothingSayWhatWasLookedFor) {
  EXPECT_THAT(findings_of(Analysis{}, gather::Captured{}, "no flow pauses"), SizeIs(1));
  EXPECT_EQ(findings_of(Analysis{}, gather::Captured{}, "no flow pauses")[0].text,
            "no training found: no flow pauses");
}

TEST(FindingsOf, AreAtMostSeven) {
  Analysis analysis = ring_of_three();
  analysis.straggler = Straggler{"b", 0.02, 0.9, "late"};
  analysis.bottleneck = Bottleneck{"a", "c", 2e8, 0.5, "busy"};
  analysis.iterations.first_untypical = true;
  analysis.collectives.push_back({.operation = "broadcast",
                                  .strategy = "tree",
                                  .order = {"a", "b", "c"},
                                  .bytes_per_iteration = 25'000'000,
                                  .confidence = 0.9,
                                  .evidence = ""});
  gather::Captured traffic{};
  flow::Flow flow;
  flow.payload_bytes = 1000;
  flow.retransmitted_bytes = 100;
  traffic.flows.push_back(flow);
  analysis.classes = {FlowClass::Control};
  EXPECT_THAT(findings_of(analysis, traffic, ""), SizeIs(7));
}

TEST(ArrowChain, ShortensLongRings) {
  EXPECT_EQ(arrow_chain({"a", "b"}), "a→b");
  EXPECT_EQ(arrow_chain({"1", "2", "3", "4", "5", "6", "7", "8", "9"}), "1→2→3→4→5→6→…→9");
}

}  // namespace
}  // namespace tw::diagnose
