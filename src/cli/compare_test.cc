// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/random.h"
#include "trainwire/cli/test_program.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// `n` times about `mean` with a deviation of 2 %.
std::vector<double> times(int n, double mean, std::uint64_t seed) {
  Random random(seed, "compare");
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(mean * (1 + 0.02 * random.normal()));
  return values;
}

ordered_json job(const std::vector<double>& steps, const std::string& name = "job0") {
  return {{"name", name}, {"step", {{"times_s", steps}}}};
}

/// Run folders in a folder of their own.
class Runs {
 public:
  std::string add(const std::string& name, const ordered_json& summary, bool complete = true) {
    const std::string path = folder_ / name;
    std::filesystem::create_directory(path);
    ordered_json document{{"schema", 1},
                          {"program", "trainwire"},
                          {"command", "run"},
                          {"complete", complete},
                          {"summary", summary}};
    if (!complete) document["partial"] = "interrupted";
    std::ofstream(path + "/run.json") << document.dump();
    return path;
  }
  std::string add(const std::string& name, const std::vector<double>& steps) {
    return add(name, {{"jobs", {job(steps)}}});
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  result::TestFolder folder_;
};

ordered_json parsed(const Result& result) { return ordered_json::parse(result.out); }

TEST(Compare, SaysThatASlowerRunIsSlower) {
  Runs runs;
  const std::string a = runs.add("a", times(60, 0.100, 1));
  const std::string b = runs.add("b", times(60, 0.110, 2));
  const Result result = trainwire({"compare", a, b});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("step mean"), HasSubstr("slower by "),
                                HasSubstr("p < 0.001"), HasSubstr("60 steps"),
                                HasSubstr("too few steps to tell (n = 60, 368 needed)")));
}

// Two runs of the same mean: deviations of 2 % and 60 steps leave an error of 0.37 % of the
// difference, so the interval is about 0.7 % to each side.
TEST(Compare, GivesNumbersOfEveryMetricInItsDocument) {
  Runs runs;
  const std::string a = runs.add("a", times(60, 0.100, 1));
  const std::string b = runs.add("b", times(60, 0.100, 3));
  const ordered_json document = parsed(trainwire({"compare", a, b, "--json"}));
  EXPECT_EQ(document["schema"], 1);
  const ordered_json mean = document["comparisons"][0]["metrics"][0];
  EXPECT_EQ(mean["metric"], "step");
  EXPECT_EQ(mean["statistic"], "mean");
  EXPECT_EQ(mean["verdict"], "no_evidence");
  EXPECT_EQ(mean["baseline"]["n"], 60);
  EXPECT_NEAR(mean["baseline"]["value"], 0.100, 0.001);
  EXPECT_LT(mean["relative"]["ci_low"], 0);
  EXPECT_GT(mean["relative"]["ci_high"], 0);
  EXPECT_THAT(mean["test"].get<std::string>(), HasSubstr("Welch"));
}

TEST(Compare, FailsWhenTheLimitIsExceeded) {
  Runs runs;
  const std::string a = runs.add("a", times(60, 0.100, 1));
  const std::string b = runs.add("b", times(60, 0.110, 2));
  const Result failed = trainwire({"compare", a, b, "--fail-if", "+3%"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("step mean"), HasSubstr("slower by "), HasSubstr("+3%")));
  EXPECT_EQ(trainwire({"compare", a, b, "--fail-if", "+20%"}).code, 0);
  EXPECT_EQ(trainwire({"compare", a, b, "--fail-if", "-3%"}).code, 0);
  EXPECT_EQ(trainwire({"compare", b, a, "--fail-if", "-3%"}).code, 1);
  EXPECT_EQ(trainwire({"compare", b, a, "--fail-if", "3%"}).code, 1);
}

// Times that differ by a factor of 3 within each run, means 5 % apart: beyond the limit, but
// chance.
TEST(Compare, DoesNotFailForNoise) {
  Runs runs;
  const std::string a = runs.add("a", std::vector<double>{1, 3, 1, 3, 1, 3, 1, 3, 1, 3});
  const std::string b = runs.add("b", std::vector<double>{3, 1, 3, 1, 3, 1, 3, 1, 3, 2});
  EXPECT_EQ(trainwire({"compare", a, b, "--fail-if", "+1%"}).code, 0);
}

TEST(Compare, SaysHowALogBecomesARun) {
  const result::TestFolder folder;
  const std::string log = folder.file("a.log", "step 1, step_time: 350ms\n");
  const Result refused = trainwire({"compare", log, log});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("trainwire analyze FILE -o NAME.run"));
}

TEST(Compare, DoesNotPassATestThatCannotTell) {
  Runs runs;
  const std::string a = runs.add("a", std::vector<double>{1, 1.1, 0.9});
  const std::string b = runs.add("b", std::vector<double>{2, 2.1, 1.9});
  const Result shown = trainwire({"compare", a, b});
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("too few steps to tell (n = 3, 5 needed)"),
                               HasSubstr("Next: more steps")));
  const Result result = trainwire({"compare", a, b, "--fail-if", "+3%"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("make longer runs"));
}

// 1000 and 1100 bytes: 10 % more; no interval, no test, but a limit holds.
TEST(Compare, CountsBytesWithoutATest) {
  Runs runs;
  const auto summary = [](int bytes) -> ordered_json {
    ordered_json one = job(times(10, 1, 1));
    one["step_sent_bytes"] = 80;
    return {{"jobs", {one}}, {"pairs", {{{"wire_bytes", bytes}}}}};
  };
  const std::string a = runs.add("a", summary(1000));
  const std::string b = runs.add("b", summary(1100));
  const Result result = trainwire({"compare", a, b, "--metric", "bytes", "--fail-if", "+3%"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("more by 10.0 % (counted, no test)"),
                                HasSubstr("the same (counted)"), Not(HasSubstr("step mean"))));
  EXPECT_THAT(result.err, AllOf(HasSubstr("bytes on the wire"), Not(HasSubstr("sent per step"))));
}

// The bandwidth is inverse to the time: 25 % more time are 20 % less bandwidth.
TEST(Compare, ComparesExchangesAndTheirBandwidth) {
  Runs runs;
  const auto summary = [](double exchange, double busbw) -> ordered_json {
    ordered_json one = job(times(20, 1, 1));
    one["exchange"] = {{"times_s", times(20, exchange, 4)}};
    one["busbw_bps"] = busbw;
    return {{"jobs", {one}}};
  };
  const std::string a = runs.add("a", summary(0.100, 1e9));
  const std::string b = runs.add("b", summary(0.125, 0.8e9));
  const Result result = trainwire({"compare", a, b, "--metric", "exchange", "--metric", "busbw"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("slower by 25.0 %"), HasSubstr("lower by 20.0 %")));
}

TEST(Compare, ReadsIterationsOfACaptureWithoutAnUntypicalFirst) {
  Runs runs;
  const ordered_json captured{
      {"iterations", {{"first_untypical", true}, {"times_s", {9.0, 1.0, 1.0, 1.0, 1.0, 1.0}}}}};
  const std::string a = runs.add("a", captured);
  const std::string b = runs.add("b", std::vector<double>(5, 1));
  const ordered_json document = parsed(trainwire({"compare", a, b, "--json"}));
  EXPECT_EQ(document["comparisons"][0]["metrics"][0]["relative"]["value"], 0);
  EXPECT_EQ(document["comparisons"][0]["baseline_steps"], 5);
}

TEST(Compare, MatchesJobsByName) {
  Runs runs;
  const std::string a =
      runs.add("a", {{"jobs", {job(times(10, 1, 1), "x"), job(times(10, 2, 2), "y")}}});
  const std::string b =
      runs.add("b", {{"jobs", {job(times(10, 2, 2), "y"), job(times(10, 1, 1), "x")}}});
  const ordered_json document = parsed(trainwire({"compare", a, b, "--json"}));
  for (const ordered_json& row : document["comparisons"][0]["metrics"]) {
    EXPECT_EQ(row["relative"]["value"], 0) << row["job"];
  }
  const std::string c =
      runs.add("c", {{"jobs", {job(times(10, 1, 1), "p"), job(times(10, 1, 1), "q")}}});
  EXPECT_EQ(trainwire({"compare", a, c}).code, 3);
}

TEST(Compare, ComparesSweepsPointByPoint) {
  Runs runs;
  const auto sweep = [](double fast, double slow) -> ordered_json {
    return {{"sweep", {{"points", 2}}},
            {"points",
             {{{"folder", "point-000"},
               {"settings", {"job.batch=32"}},
               {"jobs", {job(times(20, fast, 1))}}},
              {{"folder", "point-001"},
               {"settings", {"job.batch=64"}},
               {"jobs", {job(times(20, slow, 2))}}}}}};
  };
  const std::string a = runs.add("a", sweep(1, 2));
  const std::string b = runs.add("b", sweep(1, 4));
  const Result result = trainwire({"compare", a, b, "--fail-if", "+3%"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("job.batch=32"), HasSubstr("slower by 100.0 %")));
  EXPECT_THAT(result.err, AllOf(HasSubstr("job.batch=64"), Not(HasSubstr("job.batch=32"))));
  EXPECT_EQ(trainwire({"compare", a, runs.add("c", times(20, 1, 1))}).code, 2);
}

TEST(Compare, StaysWithinThirtyLines) {
  Runs runs;
  std::vector<std::string> words{"compare"};
  for (int i = 0; i < 40; ++i) words.push_back(runs.add(std::to_string(i), times(5, 1, 1)));
  const std::string out = trainwire(words).out;
  EXPECT_LE(std::count(out.begin(), out.end(), '\n'), 30);
  EXPECT_THAT(out, HasSubstr("more: --json has them"));
}

TEST(Compare, WritesItsDocumentAndNothingOverOtherFiles) {
  Runs runs;
  const std::string a = runs.add("a", times(10, 1, 1));
  const std::string out = runs / "compare.json";
  EXPECT_EQ(trainwire({"compare", a, a, "-o", out}).code, 0);
  EXPECT_EQ(trainwire({"compare", a, a, "-o", out}).code, 0);
  EXPECT_EQ(ordered_json::parse(result::content(out))["command"], "compare");
  const Result refused = trainwire({"compare", a, a, "-o", a + "/run.json"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("something else is there"));
}

TEST(Compare, SaysWhatIsWrongWithAFolder) {
  Runs runs;
  const std::string good = runs.add("good", times(10, 1, 1));
  const auto refusal = [&](const std::string& path) {
    const Result result = trainwire({"compare", good, path});
    EXPECT_EQ(result.code, 3);
    return result.err;
  };
  EXPECT_THAT(refusal(runs / "nowhere"), HasSubstr("there is no such folder"));
  std::filesystem::create_directory(runs / "empty");
  EXPECT_THAT(refusal(runs / "empty"), HasSubstr("it holds no run"));
  EXPECT_THAT(refusal(runs.add("cut", {{"jobs", {job({1, 1})}}}, false)),
              HasSubstr("not whole (interrupted)"));
  EXPECT_THAT(refusal(runs.add("one", std::vector<double>{1})), HasSubstr("it has one step"));
  EXPECT_THAT(refusal(runs.add("none", ordered_json::object())), HasSubstr("no times of steps"));
  EXPECT_THAT(refusal(runs.add("bad", {{"jobs", {job({1, -1})}}})), HasSubstr("time 2 of a step"));
  EXPECT_EQ(trainwire({"compare", good}).code, 2);
  EXPECT_EQ(trainwire({"compare", good, good, "--metric", "busbw"}).code, 3);
}

}  // namespace
}  // namespace tw::cli
