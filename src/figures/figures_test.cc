// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figures.h"

#include "trainwire/figures/gnuplot.h"
#include "trainwire/timeline/test_run.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tw::figures {
namespace {

using result::content;
using result::TestFolder;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

timeline::RunPart run_of(const TestFolder& folder, const std::string& summary = "{}") {
  const std::string path = timeline::make_run(folder, "job.run", timeline::run_document(summary));
  return timeline::open_source(path).runs.front();
}

TEST(StepFigures, TakeTimesOfJobsBeforeThoseOfTheCapture) {
  const TestFolder folder;
  const auto figures = step_figures(run_of(folder, R"({"jobs": [
      {"name": "a", "step": {"times_s": [0.2, 0.1]}}], "iterations": {"times_s": [9]}})"));
  ASSERT_EQ(figures.size(), 2);
  EXPECT_EQ(figures[0].csv, "series,name,step,time_s\n0,\"a\",0,0.2\n0,\"a\",1,0.1\n");
  EXPECT_THAT(figures[0].script, HasSubstr("step time (ms)"));
  EXPECT_THAT(figures[1].csv, HasSubstr("0,\"a\",0.1,0.5,"));  // half of the steps
}

TEST(StepFigures, AreNotThereWithoutTimes) {
  const TestFolder folder;
  EXPECT_TRUE(step_figures(run_of(folder)).empty());
}

TEST(CompletionFigure, CountsFlowsThatNeverEnded) {
  const TestFolder folder;
  const timeline::RunPart run = run_of(folder);
  folder.file("job.run/cross_flows.csv",
              "traffic,flow,start_ns,bytes,end_ns\n0,0,0,1000,2000000\n0,1,0,1000,\n");
  const auto figure = completion_figure(run);
  ASSERT_TRUE(figure);
  EXPECT_THAT(figure->csv, HasSubstr("0,\"below 100 kB\",0.002,0.5\n"));
}

TEST(TransfersFigure, HasARowForEachPairAndABarForEachIteration) {
  const TestFolder folder;
  const timeline::RunPart run = run_of(folder);
  folder.file("job.run/iteration_pairs.csv",
              "iteration,from,to,gradient_bytes,first_ns,last_ns\n"
              "0,b,a,9,1000000000,2000000000\n1,a,b,9,3000000000,3500000000\n"
              "1,a,c,9,5000000000,4000000000\n");  // ends before it begins
  const auto figure = transfers_figure(run);
  ASSERT_TRUE(figure);
  // Rows by name, times since the first.
  EXPECT_EQ(figure->csv,
            "pair_number,pair,iteration,start_s,end_s\n1,\"b > a\",0,0.000000,1.000000\n"
            "0,\"a > b\",1,2.000000,2.500000\n");
  EXPECT_FALSE(transfers_figure(run_of(TestFolder())));
}

TEST(SocketFigures, ShowWhatTcpTellsOfConnections) {
  const TestFolder folder;
  const timeline::RunPart run = run_of(folder);
  folder.file("job.run/sockets.csv",
              "time_ns,job,rank,peer,lane,rtt_ns,rtt_deviation_ns,window_bytes,"
              "retransmitted_packets,queued_bytes\n"
              "5000000000,j,0,1,0,2000000,0,14480,0,0\n6000000000,j,0,1,0,-1,0,14480,0,0\n");
  const auto figures = socket_figures(run);
  ASSERT_EQ(figures.size(), 2);
  EXPECT_EQ(figures[0].csv,
            "connection_number,connection,time_s,value\n0,\"j 0 > 1\",0.000000,0.002\n");
  EXPECT_THAT(figures[0].script, HasSubstr("round trip (ms)"));
  EXPECT_THAT(figures[1].csv, HasSubstr("0.000000,14480\n"));
}

TEST(SocketFigures, KeepTheLongestRoundTripOfALongRun) {
  const TestFolder folder;
  const timeline::RunPart run = run_of(folder);
  std::string rows =
      "time_ns,job,rank,peer,lane,rtt_ns,rtt_deviation_ns,window_bytes,retransmitted_packets,"
      "queued_bytes\n";
  for (int i = 0; i < 8001; ++i) {
    rows +=
        std::to_string(i) + ",j,0,1,0," + (i == 4001 ? "66000000" : "1000000") + ",0,14480,0,0\n";
  }
  folder.file("job.run/sockets.csv", rows);
  EXPECT_THAT(socket_figures(run)[0].csv, HasSubstr(",0.066\n"));
}

TEST(PhasesFigure, ShowsTheStepOfMedianLength) {
  const TestFolder folder;
  const timeline::RunPart run = run_of(folder);
  folder.file("job.run/steps.csv",
              "rank,step,phase,start_ns,end_ns,job\n0,-1,forward,0,900,j\n"
              "0,0,forward,1000,1100,j\n0,1,forward,2000,2500,j\n0,2,forward,3000,3200,j\n"
              "0,2,exchange,3100,3150,j\n");
  const auto figure = phases_figure(run);
  ASSERT_TRUE(figure);
  // Lengths 100, 500 and 200 ns: step 2. Phase 0 is forward, 4 exchange.
  EXPECT_EQ(figure->csv,
            "row,name,phase_number,phase,start_s,end_s\n"
            "0,\"rank 0\",0,forward,0.000000000,0.000000200\n"
            "0,\"rank 0\",4,exchange,0.000000100,0.000000150\n");
}

TEST(SweepFigure, DrawsLoadAsOnTheCluster) {
  const TestFolder folder;
  const timeline::Source sweep = timeline::open_source(timeline::make_sweep(folder));
  const auto figure = sweep_figure(sweep);
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure->name, "step_time_by_load");
  // 100 Mbit/s at scale 10 are 1 Gbit/s.
  EXPECT_THAT(figure->csv, HasSubstr("0,\"\",1,0.7,0.7,0.7,0.9\n"));
  EXPECT_THAT(figure->script, Not(HasSubstr("fit0")));
}

/// The sweep of make_sweep() with other settings.
std::optional<Figure> figure_with(const TestFolder& folder, const std::string& first,
                                  const std::string& second) {
  const std::string path = timeline::make_sweep(folder);
  const nlohmann::ordered_json points{{{"folder", "point-000"}, {"settings", {first}}},
                                      {{"folder", "point-001"}, {"settings", {second}}}};
  folder.file("sweep.run/run.json",
              timeline::run_document(R"({"sweep": {}, "points": )" + points.dump() + "}"));
  return sweep_figure(timeline::open_source(path));
}

TEST(SweepFigure, HasTheSettingInItsUnitOnTheHorizontalAxis) {
  const TestFolder folder;
  const auto figure = figure_with(folder, R"(job.compute_time="1ms")", R"(job.compute_time="3ms")");
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure->name, "step_time_by_setting");
  EXPECT_THAT(figure->script, AllOf(HasSubstr("set xlabel 'compute time (ms)'"),
                                    HasSubstr("set xtics ('1' 1, '3' 3)")));
  EXPECT_THAT(figure->csv, HasSubstr("0,\"\",3,0.7,"));
}

TEST(SweepFigure, IsLogarithmicWhereValuesSpanDecadesAndKeepsZero) {
  const TestFolder folder;
  const std::string path = timeline::make_sweep(folder);
  folder.file("sweep.run/run.json", timeline::run_document(R"({"sweep": {}, "points": [
      {"folder": "point-000", "settings": ["network.loss=0"]},
      {"folder": "point-001", "settings": ["network.loss=\"0.01%\""]},
      {"folder": "point-002", "settings": ["network.loss=\"1%\""]}]})"));
  folder.file("sweep.run/points.csv",
              "folder,settings,step_mean_s,step_p99_s\npoint-000,,0.5,0.6\npoint-001,,0.7,0.9\n"
              "point-002,,0.9,1\n");
  folder.file("sweep.run/fit.json", R"({"model": "linear", "x": "network.loss",
      "y": "step_mean_s", "points": [{"x": 0.01, "fitted": 0.8}, {"x": 0.0001, "fitted": 0.6}]})");
  const auto figure = sweep_figure(timeline::open_source(path));
  ASSERT_TRUE(figure);
  // 0.01 % and 1 % are two decades apart: 0 stands two decades below the first.
  EXPECT_THAT(figure->script, AllOf(HasSubstr("set logscale x"), HasSubstr("set xlabel 'loss (%)'"),
                                    HasSubstr("set xtics ('0' 0.0001, '0.01' 0.01, '1' 1)"),
                                    HasSubstr("$fitted0 << EOD\n0.01,0.6\n1,0.8\nEOD")));
}

TEST(SweepFigure, PutsWordsSideBySide) {
  const TestFolder folder;
  const auto figure = figure_with(folder, R"(job.strategy="ring")", R"(job.strategy="star")");
  ASSERT_TRUE(figure);
  EXPECT_THAT(figure->script, AllOf(HasSubstr("set xlabel 'strategy'"),
                                    HasSubstr("set xtics ('ring' 0, 'star' 1)\n")));
}

TEST(SweepMapFigure, HasACellForEachCombinationOfTwoNumbers) {
  const TestFolder folder;
  const std::string path = timeline::make_sweep(folder);
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  std::string rows = "folder,settings,step_mean_s\n";
  for (const int delay : {4, 1, 2}) {
    for (const int ranks : {4, 8, 16}) {
      const std::string name = "point-" + std::to_string(points.size());
      points.push_back({{"folder", name},
                        {"settings",
                         {"network.delay=\"" + std::to_string(delay) + "ms\"",
                          "job.ranks=" + std::to_string(ranks)}}});
      rows += name + ",," + std::to_string(delay * ranks) + "\n";
    }
  }
  folder.file("sweep.run/run.json",
              timeline::run_document(R"({"sweep": {}, "points": )" + points.dump() + "}"));
  folder.file("sweep.run/points.csv", rows);
  const auto figure = sweep_map_figure(timeline::open_source(path));
  ASSERT_TRUE(figure);
  EXPECT_THAT(figure->script, AllOf(HasSubstr("set xlabel 'delay (ms)'"),
                                    HasSubstr("set xtics ('1' 0, '2' 1, '4' 2)"),
                                    HasSubstr("set ytics ('4' 0, '8' 1, '16' 2)")));
  EXPECT_THAT(figure->csv, HasSubstr("2,1,4,8,32\n"));
  EXPECT_FALSE(sweep_map_figure(timeline::open_source(timeline::make_sweep(TestFolder()))));
}

TEST(SweepFigure, AddsTheFittedCurveAndItsCongestionPoint) {
  const TestFolder folder;
  const std::string path = timeline::make_sweep(folder);
  folder.file("sweep.run/fit.json", R"({"model": "saturation", "x": "traffic_achieved_bps",
      "y": "step_mean_s", "equation_x_unit": "Gbit/s", "capacity": 10e9, "valid_from": 0,
      "valid_to": 8e9, "parameters": [{"name": "A", "value": 0.5}, {"name": "B", "value": 2},
      {"name": "n", "value": 1}], "congestion_point": {"x": 6e9, "ci_low": 5e9, "ci_high": 7e9,
      "y": 0.8}})");
  const auto figure = sweep_figure(timeline::open_source(path));
  ASSERT_TRUE(figure);
  EXPECT_THAT(figure->script, AllOf(HasSubstr("fit0(x) = 0.5*exp(2/(10 - x)**1)"),
                                    HasSubstr("[x=0:8] fit0(x)"), HasSubstr("6,0.8,5,7")));
}

TEST(Figures, RunNothingThatANameSays) {
  if (!find_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const TestFolder folder;
  const std::string mark = folder / "mark";
  const std::string name = "`touch " + mark + "`' . system('touch " + mark + "') @x\\";
  nlohmann::ordered_json summary{{"jobs",
                                  {{{"name", name}, {"step", {{"times_s", {1, 2}}}}},
                                   {{"name", name + "2"}, {"step", {{"times_s", {1, 2}}}}}}}};
  const std::string path =
      timeline::make_run(folder, "job.run", timeline::run_document(summary.dump()));
  std::string host = name;
  for (std::size_t at = 0; (at = host.find('"', at)) != host.npos; at += 2) host.insert(at, "\"");
  folder.file("job.run/pairs.csv",
              "from,to,wire_bytes\n\"" + host + "\",b,100\nb,\"%s%n\n$1\",50\n");
  folder.file("job.run/windows.csv",
              "scope,from,to,flow,start_ns,width_ns,wire_bytes\ntotal,,,,0,1000,100\n"
              "pair,\"" +
                  host + "\",b,,0,1000,100\n");
  result::OutputFolder out(folder / "out", result::IfThere::Refuse);
  std::vector<std::string> notes;
  export_figures(timeline::open_source(path), out, notes);
  EXPECT_THAT(notes, testing::IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(mark));
  for (const char* figure : {"step_times", "step_time_cdf", "traffic_matrix", "throughput_hosts"}) {
    EXPECT_THAT(content(folder / ("out/figures/" + std::string(figure) + ".svg")),
                HasSubstr("</svg>"))
        << figure;
  }
  EXPECT_THAT(content(folder / "out/figures/step_times.svg"), HasSubstr("`touch"));
}

TEST(Figures, AreDataAndScriptsWithoutGnuplot) {
  const TestFolder folder;
  const std::string path = timeline::make_run(
      folder, "job.run",
      timeline::run_document(R"({"jobs": [{"name": "a", "step": {"times_s": [1, 2]}}]})"));
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  result::OutputFolder out(folder / "out", result::IfThere::Refuse);
  std::vector<std::string> notes;
  export_figures(timeline::open_source(path), out, notes);
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_THAT(notes, Contains(HasSubstr("gnuplot is not installed")));
  EXPECT_EQ(out.written().size(), 4);  // two figures
}

TEST(Figures, SayWhatGnuplotDidNotLike) {
  const auto gnuplot = find_gnuplot();
  if (!gnuplot) GTEST_SKIP() << "gnuplot is not installed";
  const TestFolder folder;
  folder.file("bad.gp", "plot 'absent.csv'\n");
  const auto trouble = draw({.gnuplot = *gnuplot,
                             .folder = folder / "",
                             .script = "bad.gp",
                             .pdf = "a.pdf",
                             .svg = "a.svg"});
  ASSERT_TRUE(trouble);
  EXPECT_THAT(*trouble, AllOf(HasSubstr("exited with code 1"), HasSubstr("bad.gp")));
}

}  // namespace
}  // namespace tw::figures
