// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/report.h"

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

/// A run of 128 hosts with 20,000 windows, a long list of pairs and a long text.
void write_large_run(const TestFolder& folder) {
  std::string windows = "scope,from,to,flow,start_ns,width_ns,wire_bytes\n";
  for (int i = 0; i < 20'000; ++i) windows += fmt::format("total,,,,{}000000,1000000,{}\n", i, i);
  for (int i = 0; i < 20'000; ++i) {
    windows += fmt::format("pair,host{},host{},,{}000000,1000000,{}\n", i % 128, (i + 1) % 128,
                           i / 128, 1000 + i % 977);
  }
  folder.file("windows.csv", windows);
  std::string pairs;
  for (int i = 0; i < 20'000; ++i) {
    pairs += fmt::format(R"({}{{"from": "host{}", "to": "host{}"}})", i > 0 ? "," : "", i, i);
  }
  folder.file("run.json", fmt::format(R"({{"schema": 1, "program": "trainwire", "command": "run",
    "complete": true, "summary": {{"pairs": [{}], "text": "{}"}}}})",
                                      pairs, std::string(2'000'000, 'x')));
}

TEST(RunPage, StaysBelowAMegabyteWhateverTheRun) {
  const TestFolder folder;
  write_large_run(folder);
  const std::vector<std::string> runs{folder / ""};
  EXPECT_LE(run_page(runs, Detail::Reduced, kMaker).size(), kMostBytes);
}

TEST(RunPage, StaysBelowAMegabyteWithManyRuns) {
  const TestFolder folder;
  write_large_run(folder);
  const std::vector<std::string> runs(5, folder / "");
  EXPECT_LE(run_page(runs, Detail::Reduced, kMaker).size(), kMostBytes);
}

TEST(RunPage, HasEveryWindowWhenAskedFor) {
  const TestFolder folder;
  write_large_run(folder);
  const std::vector<std::string> runs{folder / ""};
  const std::string page = run_page(runs, Detail::Full, kMaker);
  EXPECT_THAT(page, HasSubstr("\"n\":20000"));
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

TEST(LoadPage, HoldsTheLoadAndItsMaker) {
  const std::vector<LoadFlow> flows{{0, 100}};
  const std::string page = load_page({.path = "l.csv", .span_s = 1, .flows = flows}, kMaker);
  EXPECT_THAT(page, HasSubstr(R"("path":"l.csv")"));
  EXPECT_THAT(page, HasSubstr(R"("version":"1.2.3")"));
}

}  // namespace
}  // namespace tw::report
