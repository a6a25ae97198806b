// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/test_program.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace tw::cli {
namespace {

using result::TestFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRun = R"({"schema": 1, "program": "trainwire", "command": "run",
  "complete": true, "provenance": {}, "summary": {"jobs": []}})";

std::string run_folder(const TestFolder& folder, const std::string& name = "job.run") {
  std::filesystem::create_directory(folder / name);
  folder.file(name + "/run.json", kRun);
  return folder / name;
}

TEST(ReportCommand, WritesThePageIntoTheRunsFolderAndSaysWhere) {
  const TestFolder folder;
  const std::string run = run_folder(folder);
  const Result result = trainwire({"report", run});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("wrote " + run + "/report.html"), HasSubstr("file://")));
  EXPECT_THAT(result::content(run + "/report.html"), HasSubstr("\"label\":\"job.run\""));
}

TEST(ReportCommand, ReplacesItsOwnPageAndNothingElse) {
  const TestFolder folder;
  const std::string run = run_folder(folder);
  const std::string page = folder / "page.html";
  EXPECT_EQ(trainwire({"report", run, "-o", page}).code, 0);
  EXPECT_EQ(trainwire({"report", run, "-o", page}).code, 0);
  const std::string other = folder.file("letter.html", "<p>Dear reader</p>");
  const Result refused = trainwire({"report", run, "-o", other});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("something else is there"));
  EXPECT_EQ(result::content(other), "<p>Dear reader</p>");
}

TEST(ReportCommand, TellsOfThePageAsJson) {
  const TestFolder folder;
  const Result result = trainwire({"report", run_folder(folder), "--json"});
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["bytes"], result::content(document["page"].get<std::string>()).size());
}

TEST(ReportCommand, PrintsThePageWhenAskedTo) {
  const TestFolder folder;
  const Result result = trainwire({"report", run_folder(folder), "-o", "-"});
  EXPECT_THAT(result.out, testing::StartsWith("<!doctype html>"));
}

TEST(ReportCommand, TakesALoadFile) {
  const TestFolder folder;
  const std::string load =
      folder.file("load.csv", "# duration_s,2\nstart_s,destination,bytes\n0.5,sink,1000\n");
  const Result result = trainwire({"report", load, "-o", "-"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"span_s\":2.0"));
}

TEST(ReportCommand, RefusesALoadBesideARun) {
  const TestFolder folder;
  const std::string load = folder.file("load.csv", "start_s,destination,bytes\n0.5,sink,1000\n");
  const Result result = trainwire({"report", run_folder(folder), load});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("a page of its own"));
}

TEST(ReportCommand, RefusesALoadThatAsksForNothing) {
  const TestFolder folder;
  const std::string load = folder.file("load.csv", "# duration_s,2\nstart_s,destination,bytes\n");
  const Result result = trainwire({"report", load, "-o", "-"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("asks for nothing"));
}

TEST(ReportCommand, SaysWhatAFolderThatIsNoRunLacks) {
  const TestFolder folder;
  const Result empty = trainwire({"report", folder / ""});
  EXPECT_EQ(empty.code, 3);
  EXPECT_THAT(empty.err, AllOf(HasSubstr("no run.json"), HasSubstr("`analyze`")));
  const Result absent = trainwire({"report", folder / "absent"});
  EXPECT_EQ(absent.code, 3);
  EXPECT_THAT(absent.err, AllOf(HasSubstr("no such folder"), Not(HasSubstr("run.json)"))));
}

}  // namespace
}  // namespace tw::cli
