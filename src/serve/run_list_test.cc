// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/run_list.h"

#include "trainwire/base/error.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/result/test_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using result::TestFolder;
using testing::ElementsAre;
using testing::HasSubstr;

void write_run(const TestFolder& folder, const std::string& id, const std::string& started,
               const std::string& more = R"("complete": true)") {
  fs::create_directories(folder / id);
  folder.file(id + "/run.json", fmt::format(R"({{"schema": 1, "program": "trainwire", {},
    "command": "run", "provenance": {{"started": "{}"}}}})",
                                            more, started));
}

void write_live(const TestFolder& folder, const std::string& id, const std::string& more = "") {
  folder.file(id + "/live.jsonl",
              R"({"schema":1,"name":"live","started_ns":1,"hosts":["a"],"jobs":[]})"
              "\n" +
                  more);
}

std::vector<std::string> ids(const ordered_json& document) {
  std::vector<std::string> found;
  for (const ordered_json& run : document["runs"]) found.push_back(run["id"]);
  return found;
}

void age(const std::string& file, int seconds) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

TEST(RunList, HasTheNewestFirstAndWhatHasNoTimeLast) {
  const TestFolder folder;
  write_run(folder, "old.run", "2026-01-01T00:00:00Z");
  write_run(folder, "a/b/new.run", "2026-03-01T00:00:00Z");
  write_run(folder, "middle.run", "2026-02-01T00:00:00Z");
  fs::create_directory(folder / "broken.run");
  folder.file("broken.run/run.json", "{");
  const Root root(folder / "");
  const ordered_json document = RunList(root).document();
  EXPECT_THAT(ids(document), ElementsAre("a/b/new.run", "middle.run", "old.run", "broken.run"));
  EXPECT_EQ(document["left_off"], 0);
  EXPECT_EQ(document["search_cut"], false);
  EXPECT_EQ(document["runs"][0]["name"], "new");
  EXPECT_EQ(document["runs"][0]["state"], "complete");
  EXPECT_EQ(document["runs"][0]["path"], folder / "a/b/new.run");
}

TEST(RunList, GoesNeitherIntoRunsNorTooDeepNorThroughLinks) {
  const TestFolder folder;
  write_run(folder, "sweep.run", "2026-01-01T00:00:00Z");
  write_run(folder, "sweep.run/point-000", "2026-01-01T00:00:00Z");
  write_run(folder, "1/2/3/4.run", "2026-01-02T00:00:00Z");
  write_run(folder, "1/2/3/4/5.run", "2026-01-01T00:00:00Z");
  fs::create_directory_symlink(folder / "sweep.run", folder / "link.run");
  const Root root(folder / "");
  EXPECT_THAT(ids(RunList(root).document()), ElementsAre("1/2/3/4.run", "sweep.run"));
}

TEST(RunList, IsTheRunWhenTheFolderIsOne) {
  const TestFolder folder;
  write_run(folder, "only.run", "2026-01-01T00:00:00Z");
  const Root root(folder / "only.run");
  const ordered_json document = RunList(root).document();
  EXPECT_THAT(ids(document), ElementsAre("."));
  EXPECT_EQ(document["runs"][0]["name"], "only");
  EXPECT_EQ(document["runs"][0]["path"], folder / "only.run");
}

TEST(RunList, SaysWhatIsBroken) {
  const TestFolder folder;
  fs::create_directory(folder / "x.run");
  const Root root(folder / "");
  for (const std::string& text :
       {std::string("[]"), std::string("{\"schema\": 1}"),
        std::string(R"({"program": "trainwire", "schema": 99})"),
        R"({"schema":1,"program":"trainwire","summary":)" + std::string(100'000, '[') +
            std::string(100'000, ']') + "}"}) {
    folder.file("x.run/run.json", text);
    const ordered_json document = RunList(root).document();
    EXPECT_EQ(document["runs"][0]["state"], "broken") << text.substr(0, 50);
    EXPECT_THAT(document["runs"][0]["problem"], HasSubstr("reading ")) << text.substr(0, 50);
    // As many members as an entry of a whole run.
    EXPECT_EQ(document["runs"][0].size(), 16U);
    EXPECT_THROW(read_modest_run(folder / "x.run"), DataError);
  }
}

TEST(RunList, APointThatIsOddDoesNotTakeTheOthersOffTheList) {
  const TestFolder folder;
  const std::string sweep = R"("complete": true, "summary": {"points": []})";
  write_run(folder, "odd.run", "2026-01-02T00:00:00Z", sweep);
  write_run(folder, "odd.run/point-000", "2026-01-02T00:00:00Z", R"("summary": [])");
  write_run(folder, "pipe.run", "2026-01-01T00:00:00Z", sweep);
  fs::create_directory(folder / "pipe.run/point-000");
  ASSERT_EQ(::mkfifo((folder / "pipe.run/point-000/run.json").c_str(), 0600), 0);
  const Root root(folder / "");
  EXPECT_THAT(ids(RunList(root).document()), ElementsAre("odd.run", "pipe.run"));
}

TEST(RunList, ARunThatHoldsItsLiveFileRunsHoweverSilent) {
  const TestFolder folder;
  write_run(folder, "x.run", "2026-01-01T00:00:00Z", R"("complete": false)");
  write_live(folder, "x.run");
  age(folder / "x.run/live.jsonl", 3600);
  const Root root(folder / "");
  EXPECT_EQ(RunList(root).document()["runs"][0]["state"], "partial");
  const os::FileDescriptor held = os::open_to_read(folder / "x.run/live.jsonl");
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  EXPECT_EQ(RunList(root).document()["runs"][0]["state"], "running");
}

TEST(RunList, CallsARunRunningWhileItTellsSomething) {
  const TestFolder folder;
  write_run(folder, "x.run", "2026-01-01T00:00:00Z", R"("complete": false)");
  const Root root(folder / "");
  RunList list(root);
  const auto state = [&] { return list.document()["runs"][0]["state"]; };
  EXPECT_EQ(state(), "partial");
  write_live(folder, "x.run");
  EXPECT_EQ(state(), "running");
  EXPECT_TRUE(list.is_running("x.run"));
  EXPECT_EQ(list.document()["runs"][0]["name"], "live");
  EXPECT_TRUE(list.document()["runs"][0]["problem"].is_null());
  age(folder / "x.run/live.jsonl", 11);
  EXPECT_EQ(state(), "partial");
  EXPECT_THAT(list.document()["runs"][0]["problem"], HasSubstr("killed"));
  write_live(folder, "x.run", "{\"ended\":\"done\"}\n");
  EXPECT_EQ(state(), "partial");
  EXPECT_FALSE(list.is_running("x.run"));
}

TEST(RunList, BelievesTheRunThatSaysWhyItIsNotWhole) {
  const TestFolder folder;
  write_run(folder, "x.run", "2026-01-01T00:00:00Z",
            R"("complete": false, "partial": "interrupted")");
  write_live(folder, "x.run");
  const Root root(folder / "");
  const ordered_json document = RunList(root).document();
  EXPECT_EQ(document["runs"][0]["state"], "partial");
  EXPECT_EQ(document["runs"][0]["problem"], "interrupted");
}

TEST(RunList, CallsASweepRunningBetweenItsPoints) {
  const TestFolder folder;
  write_run(folder, "x.run", "2026-01-01T00:00:00Z", R"("complete": false)");
  fs::create_directory(folder / "x.run/point-000");
  write_live(folder, "x.run/point-000", "{\"ended\":\"done\"}\n");
  age(folder / "x.run/point-000/live.jsonl", 20);
  const Root root(folder / "");
  RunList list(root);
  EXPECT_TRUE(list.is_running("x.run"));
  age(folder / "x.run/point-000/live.jsonl", 40);
  EXPECT_FALSE(list.is_running("x.run"));
}

TEST(RunList, ReadsARunAgainOnlyWhenItChanges) {
  const TestFolder folder;
  write_run(folder, "x.run", "2026-01-01T00:00:00Z");
  write_run(folder, "y.run", "2026-01-02T00:00:00Z", R"("complete": false)");
  const Root root(folder / "");
  RunList list(root);
  list.document();
  list.document();
  EXPECT_EQ(list.reads(), 2U);
  write_live(folder, "y.run");
  list.document();
  EXPECT_EQ(list.reads(), 3U);
  write_run(folder, "x.run", "2026-01-03T00:00:00Z");
  age(folder / "x.run/run.json", 5);
  EXPECT_THAT(ids(list.document()), ElementsAre("x.run", "y.run"));
  EXPECT_EQ(list.reads(), 4U);
}

TEST(RunList, LeavesOffTheOldestBeyondTheLimit) {
  const TestFolder folder;
  for (std::size_t i = 0; i < kMostRuns + 3; ++i) {
    write_run(folder, fmt::format("{}.run", i), "2026-01-01T00:00:00Z");
  }
  age(folder / "7.run/run.json", 1000);
  const Root root(folder / "");
  const ordered_json document = RunList(root).document();
  EXPECT_EQ(document["runs"].size(), kMostRuns);
  EXPECT_EQ(document["left_off"], 3);
  EXPECT_THAT(ids(document), testing::Not(testing::Contains("7.run")));
}

TEST(RunList, TakesTheExperimentOfASweepFromItsFirstPoint) {
  const TestFolder folder;
  write_run(folder, "x.run", "2026-01-01T00:00:00Z",
            R"("complete": true, "summary": {"points": [{"folder": "../../secret"}]})");
  write_run(folder, "x.run/point-000", "2026-01-01T00:00:00Z",
            R"("complete": true, "summary": {"experiment": {"name": {"value": "loads"}}})");
  const Root root(folder / "");
  EXPECT_EQ(RunList(root).document()["runs"][0]["name"], "loads");
}

}  // namespace
}  // namespace tw::serve
