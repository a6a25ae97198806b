// SPDX-License-Identifier: Apache-2.0
#include "trainwire/timeline/timeline.h"

#include "trainwire/timeline/test_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

namespace tw::timeline {
namespace {

using result::TestFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunPart run_of(const TestFolder& folder, const std::string& summary = "{}") {
  const std::string path = make_run(folder, "job.run", run_document(summary));
  return {.point = "", .folder = path, .file = record::read_run(path)};
}

std::vector<std::string> track_names(const Timeline& timeline) {
  std::vector<std::string> names;
  for (const Process& process : timeline.processes) {
    for (const Track& track : process.tracks) names.push_back(process.name + ": " + track.name);
  }
  return names;
}

/// `steps` steps of 100 ns of one rank, each with one phase.
std::string steps_csv(int steps) {
  std::string csv = "rank,step,phase,start_ns,end_ns,job,bucket,moved_bytes\n";
  for (int i = 0; i < steps; ++i) {
    csv += fmt::format("0,{},exchange,{},{},job0,0,7\n", i, 1000 + i * 100, 1050 + i * 100);
    csv += fmt::format("0,{},step,{},{},job0,,0\n", i, 1000 + i * 100, 1100 + i * 100);
  }
  return csv;
}

TEST(Timeline, HasATrackForEachRankNamedAfterItsHost) {
  const TestFolder folder;
  const RunPart run = run_of(folder, R"({"experiment": {"jobs": [
      {"name": {"value": "job0"}, "placement": {"value": ["node7"]}}]}})");
  folder.file("job.run/steps.csv", steps_csv(2));
  const Timeline timeline = timeline_of(run, {});
  EXPECT_THAT(track_names(timeline), ElementsAre("job0: rank 0 (node7)"));
  const std::vector<Slice>& slices = timeline.processes[0].tracks[0].slices;
  ASSERT_EQ(slices.size(), 4);
  EXPECT_EQ(slices[0].name, "step 0");
  EXPECT_EQ(slices[1].name, "exchange");
  EXPECT_EQ(slices[1].arguments.size(), 3);  // step, bucket, moved_bytes
  EXPECT_EQ(timeline.start_ns, 1000);
}

TEST(Timeline, CutsPhasesOffAtTheCapAndSaysWhen) {
  const TestFolder folder;
  const RunPart run = run_of(folder);
  folder.file("job.run/steps.csv", steps_csv(1000));
  // Half of 200 events are for phases: the first 50 steps with 2 slices each, until 5 us.
  const Timeline timeline = timeline_of(run, {.events = 200});
  EXPECT_EQ(timeline.events(), 100);
  EXPECT_THAT(timeline.notes, ElementsAre(HasSubstr("1900 phases after")));
}

TEST(Timeline, ShowsOnlyTheWantedTime) {
  const TestFolder folder;
  const RunPart run = run_of(folder);
  folder.file("job.run/steps.csv", steps_csv(10));
  // 250 to 450 ns after the start at 1000: steps 2, 3 and 4 and two of the phases, which are
  // over after 50 ns of each step.
  const Timeline timeline = timeline_of(run, {.from_s = 255e-9, .to_s = 445e-9});
  ASSERT_EQ(timeline.processes.size(), 1);
  EXPECT_EQ(timeline.events(), 5);
}

TEST(Timeline, SumsRatesOfPairsByHostAndFallsBackToZero) {
  const TestFolder folder;
  const RunPart run = run_of(folder);
  folder.file("job.run/windows.csv",
              "scope,from,to,flow,start_ns,width_ns,wire_bytes\n"
              "pair,a,b,,0,1000,125\npair,a,c,,0,1000,125\npair,a,b,,5000,1000,125\n");
  // 250 bytes in 1 us are 2 Gbit/s.
  const Timeline timeline = timeline_of(run, {});
  ASSERT_THAT(track_names(timeline), Contains("a: sends"));
  const Track& sends = timeline.processes[0].tracks[0];
  ASSERT_EQ(sends.values.size(), 4);
  EXPECT_DOUBLE_EQ(sends.values[0].value, 2);
  EXPECT_EQ(sends.values[1].time_ns, 1000);
  EXPECT_EQ(sends.values[1].value, 0);
  EXPECT_DOUBLE_EQ(sends.values[2].value, 1);
  EXPECT_EQ(sends.values[3].time_ns, 6000);
}

TEST(Timeline, JoinsWindowsOfAFlowToBursts) {
  const TestFolder folder;
  const RunPart run = run_of(folder, R"({"hosts": [{"name": "h", "addresses": ["10.0.0.1"]}]})");
  folder.file("job.run/flows.csv",
              "flow,source,source_port,destination,destination_port,class,first_ns,last_ns,"
              "wire_bytes\n3,10.0.0.1,1,10.0.0.2,2,gradient,1500,30000,60\n");
  std::string windows = "scope,from,to,flow,start_ns,width_ns,wire_bytes\n";
  for (const int start : {1000, 2000, 20000}) {
    windows += fmt::format("flow,h,g,3,{},1000,20\n", start);
  }
  folder.file("job.run/windows.csv", windows);
  const Timeline timeline = timeline_of(run, {});
  ASSERT_THAT(track_names(timeline), ElementsAre("h: 10.0.0.1:1 > 10.0.0.2:2 (gradient)"));
  const std::vector<Slice>& slices = timeline.processes[0].tracks[0].slices;
  ASSERT_EQ(slices.size(), 3);
  EXPECT_EQ(slices[0].name, "flow");
  EXPECT_EQ(slices[1].start_ns, 1500);  // not before the flow's first packet
  EXPECT_EQ(slices[1].end_ns, 3000);
  EXPECT_EQ(slices[1].arguments[0].value, 40);
  EXPECT_EQ(slices[2].start_ns, 20000);
}

TEST(Timeline, KeepsTheWholeSpanOfCountersUnderTheCap) {
  const TestFolder folder;
  const RunPart run = run_of(folder);
  std::string csv = "time_ns,job,rank,peer,lane,rtt_ns,window_bytes\n";
  for (int i = 0; i < 5000; ++i) csv += fmt::format("{},job0,0,1,0,2000,100\n", i * 10);
  folder.file("job.run/sockets.csv", csv);
  // 10,000 values for two thirds of 1,200 events: every 13th row, 0, 13, ..., 4992.
  const Timeline timeline = timeline_of(run, {.events = 1200});
  ASSERT_THAT(track_names(timeline),
              ElementsAre("job0: rank 0 to 1: rtt", "job0: rank 0 to 1: cwnd"));
  const Track& rtt = timeline.processes[0].tracks[0];
  EXPECT_EQ(rtt.values.size(), 385);
  EXPECT_EQ(rtt.values.back().time_ns, 49920);
  EXPECT_EQ(rtt.values.back().value, 2);  // in us
  EXPECT_THAT(timeline.notes, ElementsAre(HasSubstr("one of 13 rows")));
}

TEST(Timeline, PassesOverTimesThatMakeNoSense) {
  const TestFolder folder;
  const RunPart run = run_of(folder);
  folder.file("job.run/steps.csv",
              "rank,step,phase,start_ns,end_ns,job\n0,0,step,200,100,j\n0,x,step,1,2,j\n"
              "0,1,step,9223372036854775807,-9223372036854775808,j\n");
  folder.file("job.run/windows.csv",
              "scope,from,to,flow,start_ns,width_ns,wire_bytes\n"
              "total,,,,-9223372036854775808,9223372036854775807,1\n"
              "total,,,,9223372036854775807,9223372036854775807,1\n"
              "flow,a,b,1,9223372036854775807,9223372036854775807,1\n");
  EXPECT_EQ(timeline_of(run, {}).events(), 0);
}

TEST(Timeline, SaysWhenNoTableTellsATime) {
  const TestFolder folder;
  const Timeline timeline = timeline_of(run_of(folder), {});
  EXPECT_THAT(timeline.processes, IsEmpty());
  EXPECT_THAT(timeline.notes, ElementsAre(HasSubstr("no table")));
}

}  // namespace
}  // namespace tw::timeline
