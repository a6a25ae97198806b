// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/run_file.h"

#include "trainwire/base/error.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tw::record {
namespace {

using nlohmann::ordered_json;
using result::TestFolder;
using testing::ElementsAre;
using testing::Pair;

TEST(RunFile, IsReadAsAFolderWritesIt) {
  const TestFolder place;
  RunFolder folder(place / "a.run",
                   {.command = "run",
                    .command_line = {"trainwire", "run"},
                    .version = "1",
                    .commit = "c",
                    .inputs = {{.path = "-"}}},
                   result::IfThere::Refuse);
  folder.table("steps");
  const RunFile begun = read_run(place / "a.run");
  EXPECT_FALSE(begun.complete);
  EXPECT_EQ(begun.summary, record::Run{});
  folder.finish({.engine = "tap"}, "interrupted");
  const RunFile file = read_run(place / "a.run");
  EXPECT_EQ(file.command, "run");
  EXPECT_EQ(file.partial, "interrupted");
  EXPECT_THAT(file.provenance->command_line, ElementsAre("trainwire", "run"));
  EXPECT_THAT(file.provenance->inputs, ElementsAre(Input{.path = "-"}));
  EXPECT_THAT(file.rows, ElementsAre(Pair("steps", 0)));
  EXPECT_EQ(file.summary.engine, "tap");
  EXPECT_FALSE(file.is_sweep());
}

TEST(RunFile, PassesOnWhatItDoesNotKnow) {
  const RunFile file = run_file_from(
      ordered_json::parse(R"({"summary": {"weather": "fair"}, "provenance": {"by": "hand"}})"));
  EXPECT_EQ(summary_document(file)["weather"], "fair");
  EXPECT_EQ(provenance_document(file)["by"], "hand");
  EXPECT_EQ(document_of(file).size(), 2U);
}

TEST(RunFile, LeavesOffTimesWhereTheyWouldBeTooMany) {
  const RunFile file = run_file_from(ordered_json::parse(
      R"({"summary": {"jobs": [{"step": {"mean_s": 1, "times_s": [1]}}], "starts_s": []}})"));
  EXPECT_EQ(summary_without_times(file),
            ordered_json::parse(R"({"jobs": [{"step": {"mean_s": 1}}]})"));
}

TEST(RunFile, OfAnotherShapeIsEmpty) {
  for (const char* text : {R"({"summary": 7, "rows": [], "provenance": 1, "complete": "yes"})",
                           R"({"rows": {"steps": "many"}})"}) {
    const RunFile file = run_file_from(ordered_json::parse(text));
    EXPECT_EQ(file.summary, record::Run{});
    EXPECT_EQ(file.provenance, std::nullopt);
    EXPECT_TRUE(file.rows.empty());
    EXPECT_FALSE(file.complete);
  }
}

TEST(RunFile, IsRefusedWhereThereIsNone) {
  const TestFolder place;
  EXPECT_THROW(read_run(place / "a.run"), SystemError);
}

}  // namespace
}  // namespace tw::record
