// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/exports.h"

#include "trainwire/base/error.h"
#include "trainwire/timeline/test_run.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

namespace tw::exports {
namespace {

using namespace std::string_literals;
using result::content;
using result::TestFolder;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// The first column of the first row that `sql` gives.
std::string asked(const std::string& database, const std::string& sql) {
  sqlite3* opened = nullptr;
  sqlite3_stmt* statement = nullptr;
  sqlite3_open_v2(database.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  std::string found = "nothing";
  if (sqlite3_prepare_v2(opened, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    found = text ? text : "null";
  }
  sqlite3_finalize(statement);
  sqlite3_close(opened);
  return found;
}

std::string small_run(const TestFolder& folder) {
  const std::string run = timeline::make_run(
      folder, "job.run", timeline::run_document(R"({"jobs": [{"name": "job0", "ok": true}]})"));
  folder.file("job.run/links.csv",
              "link,direction,requested_bps,effective_bps,packets,wire_bytes,dropped_packets,"
              "lost_packets,marked_packets,queue_peak_bytes\n"
              "\"a \"\"b\"\"\nc\",to_host,1e9,,5,9007199254740993,0,1,2,3\n");
  return run;
}

TEST(Formats, AreReadFromAList) {
  EXPECT_THAT(parse_formats("parquet,csv,csv"), ElementsAre(Format::Csv, Format::Parquet));
}

TEST(Formats, AreNamedWhenOneIsMisspelt) {
  for (const std::string list : {"csv,parket", "", "csv,"}) {
    EXPECT_THROW(parse_formats(list), SpecError) << list;
  }
  try {
    parse_formats("parket");
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("maybe parquet"));
  }
}

TEST(DefaultPlace, IsNextToTheRun) {
  EXPECT_EQ(default_place("a/job.run"), "a/job.run-export");
  EXPECT_EQ(default_place("a/job.run/"), "a/job.run-export");
  EXPECT_THAT(default_place("."), EndsWith("-export"));
  EXPECT_THAT(default_place("."), StartsWith("/"));
}

TEST(Export, WritesTextAndNumbersSoThatTheyReadBack) {
  const TestFolder folder;
  const Outcome outcome = export_run({.run = small_run(folder),
                                      .out = folder / "out",
                                      .formats = parse_formats("csv,json,sqlite")});
  EXPECT_EQ(content(folder / "out/links.csv"), content(folder / "job.run/links.csv"));
  // More than a double holds exactly (2^53 + 1), and no value where the field is empty.
  EXPECT_EQ(content(folder / "out/links.jsonl"),
            R"({"link":"a \"b\"\u000ac","direction":"to_host","requested_bps":1000000000.0,)"
            R"("effective_bps":null,"packets":5,"wire_bytes":9007199254740993,"dropped_packets":0,)"
            R"("lost_packets":1,"marked_packets":2,"queue_peak_bytes":3})"
            "\n");
  const std::string database = folder / "out/run.sqlite";
  EXPECT_EQ(asked(database, "select link from links"), "a \"b\"\nc");
  EXPECT_EQ(asked(database, "select wire_bytes from links"), "9007199254740993");
  EXPECT_EQ(asked(database, "select typeof(requested_bps) from links"), "real");
  EXPECT_EQ(asked(database, "select effective_bps from links"), "null");
  EXPECT_EQ(asked(database, "select value from run where key = 'summary.jobs.0.name'"), "job0");
  EXPECT_EQ(asked(database, "select value from run where key = 'summary.jobs.0.ok'"), "1");
  EXPECT_EQ(asked(database, "select unit from columns where column_name = 'wire_bytes'"), "bytes");
  EXPECT_THAT(outcome.notes, IsEmpty());
}

TEST(Export, MarksParquetFilesAtBothEnds) {
  const TestFolder folder;
  export_run({.run = small_run(folder), .out = folder / "out", .formats = {Format::Parquet}});
  const std::string file = content(folder / "out/links.parquet");
  EXPECT_THAT(file, StartsWith("PAR1"));
  EXPECT_THAT(file, EndsWith("PAR1"));
  EXPECT_THAT(file, HasSubstr("rate that the experiment asks for"));  // the meaning of a column
}

TEST(Export, JoinsTheTablesOfASweep) {
  const TestFolder folder;
  export_run({.run = timeline::make_sweep(folder),
              .out = folder / "out",
              .formats = parse_formats("csv,sqlite")});
  EXPECT_THAT(content(folder / "out/steps.csv"),
              HasSubstr("\npoint-001,0,0,step,1000,2000,job0,,,\n"));
  EXPECT_EQ(asked(folder / "out/run.sqlite",
                  "select sum(step_mean_s) from points join steps using (point) join settings "
                  "using (point) where key = 'traffic.0.load' and value = '0.5'"),
            "0.7");
  EXPECT_EQ(asked(folder / "out/run.sqlite", "select count(distinct point) from run"), "2");
}

TEST(Export, LeavesNothingWhenATableIsBroken) {
  const TestFolder folder;
  const std::string run = timeline::make_run(folder, "job.run");
  folder.file("job.run/load.csv", "time_ns,busy_share\n1,0.5\nlate,0.5\n");
  EXPECT_THROW(
      export_run(
          {.run = run, .out = folder / "out", .formats = parse_formats("csv,json,parquet,sqlite")}),
      DataError);
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(Export, KeepsNoPartOfATableWhenInterrupted) {
  const TestFolder folder;
  const std::string run = timeline::make_run(folder, "job.run");
  std::string table = "time_ns,busy_share\n";
  for (int i = 0; i < 5000; ++i) table += "1,0.5\n";
  folder.file("job.run/load.csv", table);
  const Outcome outcome = export_run({.run = run,
                                      .out = folder / "out",
                                      .formats = parse_formats("csv,parquet,sqlite,figures"),
                                      .is_interrupted = [] { return true; }});
  EXPECT_TRUE(outcome.is_interrupted);
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

}  // namespace
}  // namespace tw::exports
