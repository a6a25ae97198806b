// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/test_program.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace tw::cli {
namespace {

using result::content;
using result::TestFolder;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kRun = R"({"schema": 1, "program": "trainwire", "command": "run",
  "complete": true, "provenance": {}, "summary": {"jobs": []}})";

std::string run_folder(const TestFolder& folder) {
  std::filesystem::create_directory(folder / "job.run");
  folder.file("job.run/run.json", kRun);
  folder.file("job.run/steps.csv",
              "rank,step,phase,start_ns,end_ns,job\n0,0,step,1000,2000,job0\n");
  return folder / "job.run";
}

TEST(ExportCommand, WritesNextToTheRunAndSaysWhere) {
  const TestFolder folder;
  const std::string run = run_folder(folder);
  const Result result = trainwire({"export", run, "--to", "csv,perfetto"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("exported to " + run + "-export"), HasSubstr("next:")));
  EXPECT_THAT(result.err, HasSubstr("not in this run: flows, pairs"));
  EXPECT_EQ(content(run + "-export/steps.csv"),
            "rank,step,phase,start_ns,end_ns,job,bucket,moved_bytes,queued_bytes\n"
            "0,0,step,1000,2000,job0,,,\n");
}

TEST(ExportCommand, TellsOfTheFilesAsJson) {
  const TestFolder folder;
  const std::string out = folder / "out";
  const Result result =
      trainwire({"export", run_folder(folder), "--to", "parquet,chrome", "-o", out, "--json"});
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["schema"], 1);
  ASSERT_EQ(document["files"].size(), 2);
  EXPECT_EQ(document["files"][0]["path"], out + "/steps.parquet");
  EXPECT_EQ(document["files"][0]["rows"], 1);
  EXPECT_EQ(document["files"][0]["bytes"], content(out + "/steps.parquet").size());
  EXPECT_THAT(document["missing_tables"].get<std::vector<std::string>>(),
              testing::Contains("windows"));
}

TEST(ExportCommand, OverwritesItsOwnFilesAndOthersOnlyByForce) {
  const TestFolder folder;
  const std::string run = run_folder(folder), out = folder / "out";
  EXPECT_EQ(trainwire({"export", run, "--to", "csv", "-o", out}).code, 0);
  EXPECT_EQ(trainwire({"export", run, "--to", "csv", "-o", out}).code, 0);
  std::ofstream(out + "/run.sqlite") << "mine";
  const Result refused = trainwire({"export", run, "--to", "sqlite", "-o", out});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("something else is there"));
  EXPECT_EQ(trainwire({"export", run, "--to", "sqlite", "-o", out, "--force"}).code, 0);
}

TEST(ExportCommand, RefusesWhatItCannotUnderstand) {
  const TestFolder folder;
  const std::string run = run_folder(folder);
  EXPECT_EQ(trainwire({"export", run}).code, 2);
  EXPECT_EQ(trainwire({"export", run, "--to", "excel"}).code, 2);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--from", "soon"},
                                                {"--from", "2s", "--until", "1s"},
                                                {"--events", "5"}}) {
    std::vector<std::string> words{"export", run, "--to", "chrome"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(trainwire(words).code, 2) << wrong[0];
  }
  EXPECT_EQ(trainwire({"export", run, "--to", "csv", "-o", run + "/", "--force"}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(run + "-export"));
}

TEST(ExportCommand, SaysWhatAFolderThatIsNoRunLacks) {
  const TestFolder folder;
  const Result empty = trainwire({"export", folder / "", "--to", "csv"});
  EXPECT_EQ(empty.code, 3);
  EXPECT_THAT(empty.err, AllOf(HasSubstr("no run.json"), HasSubstr("`analyze`")));
  EXPECT_THAT(trainwire({"export", folder / "absent", "--to", "csv"}).err,
              HasSubstr("no such folder"));
}

TEST(ExportCommand, DoesNotLetATableSpeakToTheTerminal) {
  const TestFolder folder;
  const std::string run = run_folder(folder);
  folder.file("job.run/load.csv", "time_ns,busy_share\n\x1b[2Jx,1\n");
  const Result result = trainwire({"export", run, "--to", "csv"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.err.find('\x1b'), result.err.npos) << result.err;
}

}  // namespace
}  // namespace tw::cli
