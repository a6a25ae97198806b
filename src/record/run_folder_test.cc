// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/run_folder.h"

#include "trainwire/base/error.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

namespace tw::record {
namespace {

namespace fs = std::filesystem;
using result::content;
using result::IfThere;
using result::TestFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Maker maker() {
  return {.command = "analyze",
          .command_line = {"trainwire", "analyze", "a.pcap"},
          .version = "1.2",
          .commit = "abc",
          .inputs = {{.path = "a.pcap", .bytes = 24, .hash = "00000000000000ff"}}};
}

void write_run(const std::string& path, IfThere if_there = IfThere::Refuse) {
  RunFolder folder(path, maker(), if_there);
  folder.table("pairs").row({"a", "b", 1, 2, 3, 4, 5});
  folder.finish({.name = "answer 42"});
}

TEST(RunFolder, HoldsTablesAndWhatMadeThem) {
  const TestFolder test;
  write_run(test / "x.run");
  const RunFile run = read_run(test / "x.run");
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.command, "analyze");
  EXPECT_EQ(run.rows.at("pairs"), 1);
  EXPECT_EQ(run.summary.name, "answer 42");
  EXPECT_EQ(run.provenance->command_line.at(1), "analyze");
  EXPECT_EQ(run.provenance->inputs.at(0).hash, "00000000000000ff");
  EXPECT_EQ(run.provenance->started.size(), 20u);
  EXPECT_THAT(content(test / "x.run/pairs.csv"), HasSubstr("\na,b,1,2,3,4,5\n"));
  EXPECT_FALSE(fs::exists(test / "x.run/run.json.part"));
}

TEST(RunFolder, IsIncompleteUntilItIsFinished) {
  const TestFolder test;
  {
    RunFolder folder(test / "x.run", maker(), IfThere::Refuse);
    EXPECT_FALSE(read_run(test / "x.run").complete);
    folder.table("pairs").row({"a", "b", 1, 2, 3, 4, 5});
  }
  EXPECT_FALSE(read_run(test / "x.run").complete);
  EXPECT_TRUE(fs::exists(test / "x.run/pairs.csv"));
}

// What a power cut may leave: nothing, zeros, a beginning.
TEST(RunFolder, OfARunThatWasCutOffSaysSoAndIsReplacedByForceAlone) {
  for (const std::string& text : {std::string(), std::string(512, '\0'),
                                  std::string(R"({"schema": 1, "program": "trainwire", "comm)")}) {
    const TestFolder test;
    write_run(test / "x.run");
    std::ofstream(test / "x.run/run.json", std::ios::binary) << text;
    EXPECT_TRUE(is_cut_off(test / "x.run"));
    EXPECT_THAT([&] { read_run(test / "x.run"); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("power cut"), HasSubstr("--force"))));
    EXPECT_THAT([&] { write_run(test / "x.run"); },
                ThrowsMessage<SystemError>(HasSubstr("--force")));
    write_run(test / "x.run", IfThere::Replace);
    EXPECT_TRUE(read_run(test / "x.run").complete);
    EXPECT_FALSE(is_cut_off(test / "x.run"));
  }
}

TEST(RunFolder, IsNotTakenWhileAnotherIsWritten) {
  const TestFolder test;
  {
    RunFolder first(test / "x.run", maker(), IfThere::Refuse);
    first.table("pairs").row({"a", "b", 1, 2, 3, 4, 5});
    EXPECT_THAT([&] { write_run(test / "x.run", IfThere::Replace); },
                ThrowsMessage<SystemError>(
                    AllOf(HasSubstr("another trainwire is writing it"), HasSubstr("--out"))));
    first.finish({});
  }
  EXPECT_EQ(read_run(test / "x.run").rows.at("pairs"), 1);
  write_run(test / "x.run", IfThere::Replace);
}

TEST(RunFolder, KnowsItsTablesAgain) {
  const TestFolder test;
  write_run(test / "x.run");
  const RunFile run = read_run(test / "x.run");
  EXPECT_NO_THROW(require_unchanged(test / "x.run", run));
  const std::string table = test / "x.run/pairs.csv";
  const std::string before = content(table);
  for (const std::string& damaged : {before.substr(0, before.size() - 2), std::string(),
                                     before + before, "x" + before.substr(1)}) {
    std::ofstream(table) << damaged;
    EXPECT_THAT(
        [&] { require_unchanged(test / "x.run", run); },
        ThrowsMessage<DataError>(AllOf(HasSubstr("pairs.csv"), HasSubstr("not what the run"))));
  }
  fs::remove(table);
  EXPECT_THAT([&] { require_unchanged(test / "x.run", run); },
              ThrowsMessage<DataError>(HasSubstr("it is gone")));
}

TEST(RunFolder, APartOfARunSaysWhy) {
  const TestFolder test;
  RunFolder(test / "x.run", maker(), IfThere::Refuse).finish({}, "interrupted");
  const RunFile run = read_run(test / "x.run");
  EXPECT_FALSE(run.complete);
  EXPECT_EQ(run.partial, "interrupted");
}

TEST(RunFolder, GivesTheFolderBackWhenNothingWasWritten) {
  const TestFolder test;
  { RunFolder folder(test / "x.run", maker(), IfThere::Refuse); }
  EXPECT_FALSE(fs::exists(test / "x.run"));
  fs::create_directory(test / "empty");
  { RunFolder folder(test / "empty", maker(), IfThere::Refuse); }
  EXPECT_TRUE(fs::is_empty(test / "empty"));
}

TEST(RunFolder, ARunIsReplacedOnlyWhenAsked) {
  const TestFolder test;
  write_run(test / "x.run");
  EXPECT_THAT([&] { write_run(test / "x.run"); },
              ThrowsMessage<SystemError>(AllOf(HasSubstr("x.run"), HasSubstr("--force"))));
  RunFolder(test / "x.run", maker(), IfThere::Replace).finish({.name = "answer 43"});
  EXPECT_EQ(read_run(test / "x.run").summary.name, "answer 43");
  EXPECT_FALSE(fs::exists(test / "x.run/pairs.csv"));
}

TEST(RunFolder, AReplacementThatFailsBeforeItsFirstTableLeavesTheRun) {
  const TestFolder test;
  write_run(test / "x.run");
  { RunFolder folder(test / "x.run", maker(), IfThere::Replace); }
  EXPECT_TRUE(read_run(test / "x.run").complete);
  EXPECT_TRUE(fs::exists(test / "x.run/pairs.csv"));
}

TEST(RunFolder, ReplacingLeavesFilesThatAreNotOurs) {
  const TestFolder test;
  write_run(test / "x.run");
  test.file("x.run/notes.txt", "mine");
  write_run(test / "x.run", IfThere::Replace);
  EXPECT_EQ(content(test / "x.run/notes.txt"), "mine");
}

TEST(RunFolder, ReplacingRemovesWhatRanksAndHostsLeft) {
  const TestFolder test;
  write_run(test / "x.run");
  const std::vector<std::string> ours{
      "rank0.txt",          "rank12.txt",        "marks-3.csv",
      "host7.pcap",         "job1-rank2.txt",    "job0-rank12-steps.tmp",
      "traffic0-flows.tmp", "traffic1-sink.txt", "run.json.4242.part"};
  const std::vector<std::string> others{"rankings.txt", "rank.txt", "hosts.pcap", "rank#.txt",
                                        "job0-rank1-steps.txt"};
  for (const auto& names : {ours, others}) {
    for (const std::string& name : names) test.file("x.run/" + name, "x");
  }
  RunFolder(test / "x.run", maker(), IfThere::Replace).finish({});
  for (const std::string& name : ours) EXPECT_FALSE(fs::exists(test / ("x.run/" + name))) << name;
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(test / ("x.run/" + name))) << name;
}

TEST(RunFolder, SomethingElseIsNeverTouched) {
  const TestFolder test;
  fs::create_directory(test / "thesis");
  test.file("thesis/chapter1.txt", "text");
  test.file("file", "text");
  for (const char* name : {"thesis", "file"}) {
    EXPECT_THAT([&] { write_run(test / name, IfThere::Replace); },
                ThrowsMessage<SystemError>(AllOf(HasSubstr(name), HasSubstr("something else"))));
  }
  test.file("thesis/run.json", "{\"program\": \"another\"}");
  EXPECT_THROW(write_run(test / "thesis", IfThere::Replace), SystemError);
  EXPECT_EQ(content(test / "thesis/chapter1.txt"), "text");
}

TEST(RunFolder, APlaceThatCannotBeWrittenIsNamedWithARemedy) {
  EXPECT_THAT([] { write_run("/dev/null/x.run"); },
              ThrowsMessage<SystemError>(AllOf(HasSubstr("/dev/null/x.run"), HasSubstr("--out"))));
}

TEST(RunFolder, AnUnknownTableIsAProgrammingError) {
  const TestFolder test;
  RunFolder folder(test / "x.run", maker(), IfThere::Refuse);
  EXPECT_THROW(folder.table("flow"), std::logic_error);
}

TEST(ReadRun, TellsAMissingRunFromAStrangeOne) {
  const TestFolder test;
  EXPECT_THROW(read_run(test / "none"), SystemError);
  test.file("run.json", "{\"program\": \"trainwire\", \"schema\": 99}");
  EXPECT_THAT([&] { read_run(test / ""); },
              ThrowsMessage<DataError>(HasSubstr("its schema is 99, this program knows 1 to 1")));
  test.file("run.json", "{\"program\": \"trainwire\", \"schema\": \"x\"}");
  EXPECT_THROW(read_run(test / ""), DataError);
  for (const char* text : {"", "[]", "{\"complete", "{\"program\": 3}"}) {
    test.file("run.json", text);
    EXPECT_THROW(read_run(test / ""), DataError) << text;
  }
  ASSERT_EQ(::mkfifo((test / "pipe").c_str(), 0600), 0);
  std::filesystem::rename(test / "pipe", test / "run.json");
  EXPECT_THROW(read_run(test / ""), DataError);
  std::filesystem::remove(test / "run.json");
  // Deeper than a stack: refused, not followed.
  test.file("run.json", "{\"program\": \"trainwire\", \"schema\": 1, \"x\": " +
                            std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}");
  EXPECT_THROW(read_run(test / ""), DataError);
}

TEST(RunFolder, NamesThatAreNoUtf8DoNotStopIt) {
  const TestFolder test;
  Maker strange = maker();
  strange.inputs[0].path = "caf\xe9.pcap";
  RunFolder(test / "x.run", strange, IfThere::Refuse).finish({});
  EXPECT_TRUE(read_run(test / "x.run").complete);
}

}  // namespace
}  // namespace tw::record
