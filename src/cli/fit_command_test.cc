// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/random.h"
#include "trainwire/cli/test_program.h"
#include "trainwire/result/test_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tw::cli {
namespace {

using nlohmann::json;
using result::TestFolder;
using testing::HasSubstr;

/// Salamy 2022, table 3.9, BERT-large over RDMA: 0.2 exp(7.281 / sqrt(25 - x)), 2 % noise.
std::string bert_csv() {
  Random random(5, "fit_command_test");
  std::string text = "load,t\n";
  for (int x = 0; x <= 24; x += 2) {
    text += fmt::format("{},{}\n", x,
                        0.2 * std::exp(7.281 / std::sqrt(25 - x) + 0.02 * random.normal()));
  }
  return text;
}

constexpr const char* kPointsHeader =
    "folder,settings,complete,checks_ok,step_mean_s,step_p99_s,demand_bytes,scale,capacity_bps,"
    "traffic_requested_bps,traffic_achieved_bps\n";

/// A job on a 25 Gbit/s cluster, scaled by 25: `volume` Gbit a step, `computing` s, loads of 0 to
/// 23 Gbit/s; flat until 25 - volume / computing.
std::string points_of_job(const std::string& settings, double computing, double volume) {
  Random random(6, settings);
  std::string text;
  for (int x = 0; x <= 23; ++x) {
    const double t = std::max(computing, volume / (25 - x)) * (1 + 0.01 * random.normal());
    text +=
        fmt::format("point-{:03},{}traffic.0.load={},1,1,{},{},{},25,1e9,{},{}\n", x, settings,
                    x / 25.0, t, 1.2 * t, std::llround(volume * 1e9 / 8 / 25), x * 4e7, x * 4e7);
  }
  return text;
}

bool holds(const json& interval, double truth) {
  return interval["ci_low"] <= truth && truth <= interval["ci_high"];
}

std::ptrdiff_t lines_in(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST(FitCommand, FindsAPrintedCurveInACsv) {
  const TestFolder folder;
  const Result result =
      trainwire({"fit", folder.file("bert.csv", bert_csv()), "--model", "saturation", "--x", "load",
                 "--y", "t", "--capacity", "25", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["model"], "saturation");
  EXPECT_EQ(document["parameters"][0]["name"], "A");
  EXPECT_TRUE(holds(document["parameters"][0], 0.2));
  EXPECT_TRUE(holds(document["parameters"][1], 7.281));
  EXPECT_EQ(document["parameters"][2]["value"], 0.5);
  EXPECT_EQ(document["n"], 13);
  EXPECT_EQ(document["valid_from"], 0);
  EXPECT_EQ(document["valid_to"], 24);
  EXPECT_GT(document["r_squared_log"], 0.99);
  EXPECT_TRUE(document.contains("congestion_point"));
}

TEST(FitCommand, TakesTheUnitOfXFromTheCapacity) {
  const TestFolder folder;
  const Result result = trainwire({"fit", folder.file("bert.csv", bert_csv()), "--model",
                                   "saturation", "--capacity", "25Gbit", "--demand", "1787.6MB"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("load is taken in Gbit/s"));
  EXPECT_THAT(result.out, HasSubstr("C = 25 Gbit/s"));
  EXPECT_THAT(result.out, HasSubstr("available"));
  EXPECT_LE(lines_in(result.out), 30);
}

TEST(FitCommand, ReadsTheCurveOnlyWhereItHolds) {
  const TestFolder folder;
  const std::string file = folder.file("bert.csv", bert_csv());
  const std::vector<std::string> base{"fit", file, "--model", "saturation", "--capacity", "25Gbit"};
  const auto at = [&](const std::string& x) {
    std::vector<std::string> words = base;
    words.insert(words.end(), {"--at", x});
    return trainwire(words);
  };
  // 0.2 exp(7.281 / sqrt(5)) = 5.19 s at 20.
  EXPECT_THAT(at("20").out, HasSubstr("at 20 Gbit/s: 5."));
  EXPECT_THAT(at("20000Mbit").out, HasSubstr("at 20 Gbit/s: 5."));
  const Result beyond = at("24.9");
  EXPECT_EQ(beyond.code, 3);
  EXPECT_THAT(beyond.err, HasSubstr("asymptote at 25"));
  EXPECT_EQ(at("soon").code, 2);
}

TEST(FitCommand, FitsASweepOfTwoJobsAndKeepsItThere) {
  // 0.16 s until 25 - x = 6.9: 18.1 Gbit/s, 138 MB; 0.37 s until 25 - x = 15: 10 Gbit/s, 693.75 MB.
  const TestFolder folder;
  folder.file("points.csv", kPointsHeader + points_of_job("job.model=resnet50 ", 0.16, 0.16 * 6.9) +
                                points_of_job("job.model=vgg16 ", 0.37, 0.37 * 15));
  const std::string path = folder / "";
  const Result result = trainwire({"fit", path, "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("run.scale is 25"));
  const json document = json::parse(result.out);
  ASSERT_EQ(document["series"].size(), 2u);
  EXPECT_EQ(document["series"][1]["by"]["job.model"], "vgg16");
  EXPECT_EQ(document["name"], "job.model=resnet50");
  EXPECT_EQ(document["capacity"], 25e9);
  EXPECT_EQ(document["x_unit"], "bit/s");
  const json& point = document["congestion_point"];
  EXPECT_NEAR(point["x"], 18.1e9, 0.4e9);
  EXPECT_NEAR(point["data_bytes"], 138e6, 8e6);
  EXPECT_NEAR(document["demand_bytes"], 138e6, 25);
  EXPECT_NEAR(document["series"][1]["congestion_point"]["x"], 10e9, 1e9);
  // Past the point the job takes all that is left: nothing is spare but for noise.
  EXPECT_NEAR(document["spare"]["mean_bps"], 0, 0.2e9);
  EXPECT_EQ(json::parse(result::content(folder / "fit.json")), document);
}

TEST(FitCommand, OneSeriesOfASweepFitsOnAScreen) {
  const TestFolder folder;
  folder.file("points.csv", kPointsHeader + points_of_job("", 0.16, 0.16 * 6.9));
  const Result result = trainwire({"fit", folder / "", "--at", "12Gbit"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_LE(lines_in(result.out), 30);
  for (const char* part : {"congestion point 18", "theory 138 MB", "p99", "ideal", "spare", "| ",
                           "at 12 Gbit/s", "Next:"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
}

TEST(FitCommand, PoolsRepeatsWithOtherSeeds) {
  const TestFolder folder;
  folder.file("points.csv", kPointsHeader + points_of_job("run.seed=1 ", 0.16, 0.16 * 6.9) +
                                points_of_job("run.seed=2 ", 0.16, 0.16 * 6.9));
  const Result result = trainwire({"fit", folder / "", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)["n"], 48);
}

TEST(FitCommand, SweepWithTwoPointsIsRefused) {
  const TestFolder folder;
  folder.file("points.csv", std::string(kPointsHeader) +
                                "point-000,traffic.0.load=0,1,1,1,1,1,1,1e9,0,0\n"
                                "point-001,traffic.0.load=0.5,1,1,2,2,1,1,1e9,5e8,5e8\n");
  const Result result = trainwire({"fit", folder / ""});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("2 different loads"));
  EXPECT_EQ(lines_in(result.err), 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "fit.json"));
}

TEST(FitCommand, LeavesOutPointsThatDidNotComplete) {
  const TestFolder folder;
  std::string text = kPointsHeader + points_of_job("", 0.16, 0.16 * 6.9);
  text += "point-024,traffic.0.load=0.9,0,0,99,99,1,25,1e9,1e9,9e8\n";
  folder.file("points.csv", text);
  const Result result = trainwire({"fit", folder / "", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)["n"], 24);
  EXPECT_THAT(result.err, HasSubstr("1 row left out: the point did not complete"));
}

TEST(FitCommand, SaysThatASweepWasInterrupted) {
  const TestFolder folder;
  folder.file("points.csv", kPointsHeader + points_of_job("", 0.16, 0.16 * 6.9));
  folder.file("run.json", R"({"program": "trainwire", "schema": 1, "complete": false})");
  const Result result = trainwire({"fit", folder / ""});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the sweep is not complete"));
}

TEST(FitCommand, ASeriesThatCannotBeFittedDoesNotStopTheOthers) {
  const TestFolder folder;
  folder.file("points.csv",
              kPointsHeader + points_of_job("job.model=resnet50 ", 0.16, 0.16 * 6.9) +
                  "point-099,job.model=vgg16 traffic.0.load=0,1,1,1,1,1,25,1e9,0,0\n");
  const Result result = trainwire({"fit", folder / ""});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("not fitted: 1 different load"));
}

TEST(FitCommand, FitsLatencyAndBandwidthOfExchanges) {
  const TestFolder folder;
  // 100 us and 1 Gbit/s, exactly.
  const std::string file = folder.file("bench.json", R"({"rows": [
      {"bytes": 1000, "time_s": 0.000108}, {"bytes": 100000, "time_s": 0.0009},
      {"bytes": 10000000, "time_s": 0.0801}]})");
  const Result result = trainwire({"fit", file, "--json", "--at", "100000"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document["model"], "alphabeta");
  EXPECT_NEAR(document["parameters"][0]["value"], 1e-4, 1e-9);
  EXPECT_NEAR(document["bandwidth_bps"], 1e9, 1e4);
  EXPECT_NEAR(document["at"]["value"], 0.0009, 1e-9);
  EXPECT_THAT(trainwire({"fit", file}).out, HasSubstr("bandwidth 1 Gbit/s"));
}

TEST(FitCommand, SaysWhichCoefficientsAreSignificant) {
  // bytes = 5.7 model - 900 for pair averaging, whatever the batch.
  Random random(7, "ols");
  std::string text = "model,batch,backend,bytes\n";
  for (const int model : {14, 45, 98, 110, 528}) {
    for (const int batch : {32, 64, 128}) {
      for (const char* backend : {"mpi", "nccl", "pair"}) {
        text += fmt::format("{},{},{},{}\n", model, batch, backend,
                            5.7 * model - (backend[0] == 'p' ? 900 : 0) + 10 * random.normal());
      }
    }
  }
  const TestFolder folder;
  const std::string file = folder.file("steps.csv", text);
  const std::vector<std::string> words{"fit",   file,  "--model",     "ols",      "--y",
                                       "bytes", "--x", "model,batch", "--factor", "backend"};
  const Result result = trainwire(words);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("significant at 5 %: model, backend[pair]; not: batch"));
  EXPECT_LE(lines_in(result.out), 30);
  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  const json document = json::parse(trainwire(as_json).out);
  EXPECT_EQ(document["parameters"].size(), 5u);
  EXPECT_TRUE(holds(document["parameters"][1], 5.7));
  EXPECT_LT(document["parameters"][4]["p"], 1e-6);
  // Without --factor the words of backend make it one all the same.
  const Result implied = trainwire(
      {"fit", file, "--model", "ols", "--y", "bytes", "--x", "model,batch", "--x", "backend"});
  EXPECT_THAT(implied.out, HasSubstr("backend[pair]"));
}

TEST(FitCommand, FitsALine) {
  const TestFolder folder;
  const std::string file = folder.file("line.csv", "a,b\n0,1\n1,3.1\n2,4.9\n3,7\n");
  const Result result = trainwire({"fit", file, "--model", "linear", "--json", "--at", "1.5"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json document = json::parse(result.out);
  // Mean of y at the mean of x: 16 / 4.
  EXPECT_NEAR(document["at"]["value"], 4, 1e-9);
  EXPECT_EQ(document["valid_to"], 3);
  EXPECT_EQ(trainwire({"fit", file, "--model", "linear", "--at", "3.1"}).code, 3);
}

// y = 3 / sqrt(x); 2 + 10 / x; 1 + 2 ln x, exactly.
TEST(FitCommand, FitsPowersInversesAndLogarithms) {
  const TestFolder folder;
  const auto fitted = [&](const char* model, const std::string& rows, const char* at) {
    const std::string file = folder.file(std::string(model) + ".csv", "a,b\n" + rows);
    const Result result = trainwire({"fit", file, "--model", model, "--json", "--at", at});
    EXPECT_EQ(result.code, 0) << result.err;
    return json::parse(result.out);
  };
  const json power = fitted("power", "1,3\n4,1.5\n9,1\n16,0.75\n", "2.25");
  EXPECT_NEAR(power["at"]["value"], 2, 1e-9);
  EXPECT_EQ(power["equation"], "y = 3 x^-0.5");
  EXPECT_NEAR(fitted("inverse", "1,12\n2,7\n5,4\n10,3\n", "4")["at"]["value"], 4.5, 1e-9);
  EXPECT_NEAR(
      fitted("log", "1,1\n2,2.386294361\n4,3.772588722\n8,5.158883083\n", "4")["at"]["value"],
      3.772588722, 1e-6);
  const std::string zero = folder.file("zero.csv", "a,b\n0,1\n1,2\n2,3\n3,4\n");
  const Result refused = trainwire({"fit", zero, "--model", "power"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("this model needs values above 0"));
}

TEST(FitCommand, WritesTheDocumentToAFile) {
  const TestFolder folder;
  const std::string file = folder.file("line.csv", "a,b\n0,1\n1,3.1\n2,4.9\n3,7\n");
  const Result result = trainwire({"fit", file, "--model", "linear", "-o", folder / "out.json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(json::parse(result::content(folder / "out.json"))["model"], "linear");
  EXPECT_EQ(trainwire({"fit", file, "--model", "linear", "-o", "/nonexistent/x"}).code, 3);
}

TEST(FitCommand, ByTellsSeriesApartAndManyStayOnAScreen) {
  std::string text = "host,x,y\n";
  for (int host = 0; host < 40; ++host) {
    for (int x = 0; x < 4; ++x)
      text += fmt::format("h{},{},{}\n", host, x, x * host + (x % 2) * 0.1);
  }
  const TestFolder folder;
  const std::string file = folder.file("hosts.csv", text);
  const Result result =
      trainwire({"fit", file, "--model", "linear", "--x", "x", "--y", "y", "--by", "host"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_LE(lines_in(result.out), 30);
  EXPECT_THAT(result.out, HasSubstr("and 16 more"));
}

/// Exit code and message of a command line that is refused.
void expect_refused(const std::vector<std::string>& words, int code, const std::string& message) {
  const Result result = trainwire(words);
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(message));
}

TEST(FitCommand, WrongUseIsRefusedWithOneClearError) {
  const TestFolder folder;
  const std::string file = folder.file("t.csv", "load,t,word\n0,1,a\n5,2,b\n9,x,c\n");
  expect_refused({"fit", file}, 2, "--model: ");
  expect_refused({"fit", file, "--model", "saturation"}, 2, "--x: say which column");
  expect_refused({"fit", file, "--model", "linear", "--x", "laod", "--y", "t"}, 2,
                 "did you mean \"load\"?");
  expect_refused({"fit", file, "--model", "linear", "--x", "load", "--y", "load"}, 2,
                 "is y already");
  expect_refused({"fit", file, "--model", "linear", "--x", "load,word", "--y", "t"}, 2,
                 "one column");
  expect_refused({"fit", file, "--model", "linear", "--factor", "word"}, 2,
                 "only with --model ols");
  expect_refused({"fit", file, "--model", "linear", "--x", "load", "--y", "t"}, 3,
                 "row 3: t is \"x\", not a number");
  expect_refused({"fit", file, "--n", "-1", "--model", "saturation"}, 2, "--n: ");
  expect_refused({"fit", file, "--demand", "much", "--model", "saturation"}, 2, "--demand: ");
  expect_refused({"fit", "/nonexistent.csv", "--model", "linear"}, 3, "/nonexistent.csv");
  const std::string good = folder.file("good.csv", bert_csv());
  expect_refused({"fit", good, "--model", "saturation"}, 2, "--capacity: ");
  expect_refused({"fit", good, "--model", "saturation", "--capacity", "wide"}, 2, "25Gbit");
  expect_refused({"fit", good, "--model", "saturation", "--capacity", "20"}, 3,
                 "not below the capacity of 20");
  expect_refused({"fit", good, "--model", "ols", "--at", "3"}, 2, "--at: ");
  const TestFolder empty;
  expect_refused({"fit", empty / ""}, 3, "no points.csv");
}

}  // namespace
}  // namespace tw::cli
