// SPDX-License-Identifier: Apache-2.0
#include "trainwire/timeline/source.h"

#include "trainwire/base/error.h"
#include "trainwire/timeline/rows.h"
#include "trainwire/timeline/test_run.h"

#include <gmock/gmock.h>

#include <string>

namespace tw::timeline {
namespace {

using result::TestFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> names_of(const Source& source) {
  std::vector<std::string> names;
  for (const TableSource& table : source.tables) names.push_back(table.name);
  return names;
}

TEST(Source, HasTheTablesThatAreThereAndNamesTheOthers) {
  const TestFolder folder;
  const std::string run = make_run(folder, "job.run");
  folder.file("job.run/pairs.csv", "from,to\na,b\n");
  folder.file("job.run/flows.csv", "");  // a run that was killed at once
  const Source source = open_source(run);
  EXPECT_THAT(names_of(source), ElementsAre("pairs"));
  EXPECT_THAT(source.missing_tables, Contains("flows"));
  EXPECT_THAT(source.missing_tables, Not(Contains("points")));  // of sweeps only
}

TEST(Source, JoinsThePointsOfASweep) {
  const TestFolder folder;
  const Source source = open_source(make_sweep(folder));
  EXPECT_THAT(names_of(source), ElementsAre("steps", "points", "settings"));
  EXPECT_EQ(find_table(source, "steps")->columns.front().name, "point");
  EXPECT_EQ(find_table(source, "steps")->parts.size(), 2);
}

TEST(Source, HasTheSettingsOfASweepOneARow) {
  const TestFolder folder;
  const Source source = open_source(make_sweep(folder));
  Rows rows(*find_table(source, "settings"));
  std::vector<std::string> lines;
  while (rows.next()) {
    const auto cells = rows.cells();
    lines.push_back(std::string(cells[0].text) + " " + std::string(cells[1].text) + " " +
                    std::string(cells[2].text));
  }
  EXPECT_THAT(lines, ElementsAre("point-000 job.model a", "point-000 traffic.0.load 0",
                                 "point-001 job.model a", "point-001 traffic.0.load 0.5"));
}

TEST(Source, DoesNotLeaveTheSweepsFolder) {
  const TestFolder folder;
  make_run(folder, "secret");
  const std::string sweep = make_run(
      folder, "sweep.run",
      run_document(R"({"sweep": {}, "points": [{"folder": "../secret", "settings": []}]})"));
  const Source source = open_source(sweep);
  EXPECT_TRUE(source.runs.empty());
  EXPECT_THAT(source.notes, ElementsAre(HasSubstr("../secret")));
}

TEST(Source, SaysThatARunIsNotWhole) {
  const TestFolder folder;
  const std::string run = make_run(folder, "job.run", R"({"schema": 1, "program": "trainwire",
      "command": "run", "complete": false, "provenance": {}})");
  EXPECT_THAT(open_source(run).notes, ElementsAre(HasSubstr("not whole")));
}

TEST(Source, RefusesADocumentThatIsNotOurs) {
  const TestFolder folder;
  EXPECT_THROW(open_source(make_run(folder, "other", "{\"a\": 1}")), DataError);
  EXPECT_THROW(open_source(folder / "absent"), SystemError);
}

}  // namespace
}  // namespace tw::timeline
