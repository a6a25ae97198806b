// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/report.h"

#include "trainwire/base/test_sizes.h"
#include "trainwire/report/page.h"
#include "trainwire/result/test_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tw::report {
namespace {

using result::TestFolder;
using testing::HasSubstr;
using testing::Not;

const Maker kMaker{.version = "1.2.3", .commit = "abc"};

/// Flows and their windows, iterations, and what every pair of 128 hosts carried in them: more than
/// a page keeps of each.
void write_many_flows(const TestFolder& folder, std::string& windows) {
  std::string flows =
      "flow,source,source_port,destination,destination_port,protocol,class,first_ns,last_ns,"
      "wire_bytes,stream_bytes,rtt_mean_ns\n";
  std::string pairs = "iteration,from,to,gradient_bytes,first_ns,last_ns\n";
  std::string iterations = "start_ns,end_ns,exchange_start_ns\n";
  for (int i = 0; i < 1'000; ++i) {
    flows += fmt::format("{0},10.0.{1}.1,{0},10.0.{1}.2,5201,tcp,gradient,{0},9999999999,{0},1,1\n",
                         i, i % 128);
    windows += fmt::format("flow,a,b,{},{}000000,1000000,{}\n", i, i, 1000 + i);
    windows += fmt::format("flow,a,b,{},{}000000,1000000,{}\n", i, 10'000 - i, 1000 + i);
    iterations += fmt::format("{}000000,{}000000,{}000000\n", i, i + 1, i);
  }
  for (int i = 0; i < 4'000; ++i) {
    pairs += fmt::format("{},host{},host{},{},{}000,{}000\n", i / 128, i % 128, (i + 1) % 128, i,
                         i * 7, i * 8);
  }
  folder.file("flows.csv", flows);
  folder.file("iteration_pairs.csv", pairs);
  folder.file("iterations.csv", iterations);
}

constexpr int kWindows = 10'000;

/// A run with more windows, pairs, flows and texts than a page has room for.
void write_large_run(const TestFolder& folder) {
  std::string windows = "scope,from,to,flow,start_ns,width_ns,wire_bytes\n";
  for (int i = 0; i < kWindows; ++i) windows += fmt::format("total,,,,{}000000,1000000,{}\n", i, i);
  for (int i = 0; i < kWindows; ++i) {
    windows += fmt::format("pair,host{},host{},,{}000000,1000000,{}\n", i % 20, (i + 1) % 20,
                           i / 20 * 10, 1000 + i % 977);
  }
  write_many_flows(folder, windows);
  folder.file("windows.csv", windows);
  std::string pairs;
  for (int i = 0; i < 2'000; ++i) {
    pairs += fmt::format(R"({}{{"from": "host{}", "to": "host{}"}})", i > 0 ? "," : "", i, i);
  }
  folder.file("run.json", fmt::format(R"({{"schema": 1, "program": "trainwire", "command": "run",
    "complete": true, "summary": {{"pairs": [{}], "text": "{}"}}}})",
                                      pairs, std::string(2'000'000, 'x')));
}

/// Written once: it is large, and its pages only read it.
const TestFolder& large_run() {
  static const TestFolder folder;
  static const bool is_written = (write_large_run(folder), true);
  static_cast<void>(is_written);
  return folder;
}

TEST(RunPage, StaysBelowAMegabyteWhateverTheRun) {
  const std::vector<std::string> runs{large_run() / ""};
  EXPECT_LE(run_page(runs, Detail::Reduced, kMaker).size(), kMostBytes);
}

TEST(RunPage, StaysBelowAMegabyteWithManyRuns) {
  const std::vector<std::string> runs(kSanitized ? 2 : 3, large_run() / "");
  EXPECT_LE(run_page(runs, Detail::Reduced, kMaker).size(), kMostBytes);
}

TEST(RunPage, HasEveryWindowWhenAskedFor) {
  const std::vector<std::string> runs{large_run() / ""};
  const std::string page = run_page(runs, Detail::Full, kMaker);
  EXPECT_THAT(page, HasSubstr(fmt::format("\"n\":{}", kWindows)));
}

TEST(RunPage, CannotBeBrokenByNames) {
  const TestFolder folder;
  folder.file("run.json", R"({"schema": 1, "program": "trainwire", "complete": true, "summary":
    {"findings": [{"text": "</script><img src=x onerror=alert(1)>"}]}})");
  const std::vector<std::string> runs{folder / ""};
  const std::string page = run_page(runs, Detail::Reduced, kMaker);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr(R"(\u003c/script\u003e\u003cimg)"));
}

TEST(RunDocument, IsWhatThePageHolds) {
  const TestFolder folder;
  folder.file("run.json", R"({"schema": 1, "program": "trainwire", "complete": true})");
  const std::vector<std::string> runs{folder / ""};
  const auto document = run_document(runs, Detail::Reduced, kMaker);
  EXPECT_EQ(document["runs"].size(), 1U);
  EXPECT_THAT(run_page(runs, Detail::Reduced, kMaker), HasSubstr(script_json(document)));
}

TEST(LoadPage, HoldsTheLoadAndItsMaker) {
  const std::vector<LoadFlow> flows{{0, 100}};
  const std::string page = load_page({.path = "l.csv", .span_s = 1, .flows = flows}, kMaker);
  EXPECT_THAT(page, HasSubstr(R"("path":"l.csv")"));
  EXPECT_THAT(page, HasSubstr(R"("version":"1.2.3")"));
}

}  // namespace
}  // namespace tw::report
