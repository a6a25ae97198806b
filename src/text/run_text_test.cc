// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/run_text.h"

#include <gmock/gmock.h>

namespace tw::text {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

record::TrafficEntry websearch() {
  return {.name = "websearch from host3 to host0",
          .requested_bps = 8e8,
          .achieved_bps = 6e8,
          .outcome = record::TrafficOutcome{
              .flows = {.finished = 10, .started = 12, .unfinished = 2, .unstarted = 3}}};
}

TEST(TrafficText, PutsAskedBesideGot) {
  EXPECT_THAT(
      traffic_text({.entries = {websearch()}}),
      HasSubstr("asked 800 Mbit/s, got 600 Mbit/s (75.0 %), 12 flows, 2 unfinished, 3 never "
                "started"));
  record::TrafficEntry one = websearch();
  one.outcome->flows = {.finished = 1, .started = 1};
  EXPECT_THAT(traffic_text({.entries = {one}}), HasSubstr("(75.0 %), 1 flow, 0 unfinished"));
}

TEST(TrafficText, SaysWhatWasCutOffAndWhatWasNeverAskedFor) {
  record::TrafficEntry entry = websearch();
  entry.outcome.reset();
  EXPECT_THAT(traffic_text({.entries = {entry}}), HasSubstr("host0: cut off"));
  entry.requested_bps = 0;
  EXPECT_THAT(traffic_text({.entries = {entry}}), HasSubstr("host0: none asked for"));
}

TEST(RunText, TellsOfJobsLinksAndChecks) {
  record::Run run;
  run.engine = "tap";
  run.jobs = {{.name = "job0",
               .strategy = "ring",
               .ranks = 4,
               .gradient_bytes = 20'000'000,
               .buckets = 1,
               .steps = 2,
               .step = record::Times{.median_s = 0.25, .ci_low_s = 0.2, .ci_high_s = 0.3},
               .phases_median_s = {{"wait", 0.1}}}};
  run.utilisation =
      record::Utilisation{.link = "host1", .direction = "to_host", .share = 0.5, .rate_bps = 5e7};
  run.checks = {{.name = "sums", .ok = false, .text = "3 of 7 elements are wrong"}};
  const std::string text = run_text(run, "a ring", "a.run");
  EXPECT_THAT(text,
              AllOf(HasSubstr("a ring, engine tap"),
                    HasSubstr("job0: ring of 4 ranks, 20 MB of gradients in 1 bucket, 2 steps"),
                    HasSubstr("step      250 ms [200 ms, 300 ms]"),
                    HasSubstr("busiest link: host1 receiving, 50 % full (50 Mbit/s)"),
                    HasSubstr("FAIL  sums     3 of 7 elements are wrong")));
  // Without compute there is no backward for which a wait could be exposed.
  EXPECT_THAT(text, Not(HasSubstr("exposed")));
  run.jobs[0].phases_median_s["backward"] = 0.1;
  EXPECT_THAT(run_text(run, "a ring", "a.run"), HasSubstr("exposed   100 ms after backward"));
}

TEST(PointsText, AFailedPointHasItsReasonAndNoFigures) {
  const record::Point failed{
      .folder = "point-000", .settings = {"network.loss=0"}, .problem = "no end after 1 s"};
  record::Run sweep{.command = "run"};
  sweep.points = {failed};
  const std::string text = points_text(sweep, "x.run");
  EXPECT_THAT(text, testing::HasSubstr("FAILED\n    no end after 1 s\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("0 ns")));
}

}  // namespace
}  // namespace tw::text
