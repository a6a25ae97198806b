// SPDX-License-Identifier: Apache-2.0
#include "trainwire/timeline/rows.h"

#include "trainwire/base/error.h"
#include "trainwire/timeline/test_run.h"

#include <gmock/gmock.h>

#include <string>

namespace tw::timeline {
namespace {

using namespace std::string_literals;
using result::TestFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLoad = "time_ns,busy_share,steal_share,wait_share\n";

/// load.csv has an integer and three real columns; links.csv begins with texts.
timeline::TableSource table_of(const TestFolder& folder, const std::string& name,
                               const std::string& content) {
  const std::string run =
      timeline::make_run(folder, "job.run", timeline::run_document("{}", R"({"load": 2})"));
  folder.file("job.run/" + name + ".csv", content);
  return *timeline::find_table(timeline::open_source(run), name);
}

std::string error_of(const timeline::TableSource& table) {
  try {
    Rows rows(table);
    while (rows.next()) {
    }
    return "";
  } catch (const DataError& error) {
    return error.what();
  }
}

TEST(Rows, GiveFieldsByTheTypeOfTheirColumn) {
  const TestFolder folder;
  const timeline::TableSource table =
      table_of(folder, "load", kLoad + "-5,0.25,1e-3,\n9223372036854775807,1,0,0\n"s);
  Rows rows(table);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.cells()[0].integer, -5);
  EXPECT_EQ(rows.cells()[1].real, 0.25);
  EXPECT_EQ(rows.cells()[2].real, 0.001);
  EXPECT_FALSE(rows.cells()[3].has_value);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.cells()[0].integer, INT64_MAX);
  EXPECT_FALSE(rows.next());
  EXPECT_EQ(rows.count(), 2);
  EXPECT_THAT(rows.notes(), IsEmpty());
}

TEST(Rows, SayWhereAFieldIsNotOfItsColumnsType) {
  const TestFolder folder;
  EXPECT_THAT(error_of(table_of(folder, "load", kLoad + "1,0,0,0\n2,much,0,0\n"s)),
              AllOf(HasSubstr("load.csv: row 2, column busy_share"), HasSubstr("\"much\""),
                    HasSubstr("repair")));
  // One more than 64 bits hold.
  EXPECT_THAT(error_of(table_of(folder, "load", kLoad + "9223372036854775808,0,0,0\n"s)),
              HasSubstr("no whole number of 64 bits"));
}

TEST(Rows, RefuseATableWhoseHeaderIsOfSomethingElse) {
  const TestFolder folder;
  EXPECT_THAT(error_of(table_of(folder, "load",
                                "\x7f"
                                "ELF\x02\n\x01\n")),
              HasSubstr("names no column of table load"));
}

TEST(Rows, LeaveOutWhatIsCutOffOrUnknownAndSaySo) {
  const TestFolder folder;
  const timeline::TableSource table =
      table_of(folder, "load", "time_ns,mood,busy_share,steal_share\n1,good,0.5,0\n2,ba");
  Rows rows(table);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.cells()[1].real, 0.5);
  EXPECT_FALSE(rows.cells()[3].has_value);  // wait_share
  EXPECT_FALSE(rows.next());
  EXPECT_THAT(rows.notes(),
              ElementsAre(HasSubstr("column wait_share is not there"),
                          HasSubstr("column mood is not known"), HasSubstr("1 row is not whole"),
                          HasSubstr("1 whole rows, but run.json counted 2")));
}

TEST(Rows, ReplaceBytesThatAreNoText) {
  const TestFolder folder;
  const timeline::TableSource table =
      table_of(folder, "links", "link,direction\n\"a\"\"b\",\xff\nc\0d,e\n"s);
  Rows rows(table);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.cells()[0].text, "a\"b");
  EXPECT_EQ(rows.cells()[1].text, "\ufffd");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.cells()[0].text,
            "c\ufffd"
            "d");
  EXPECT_FALSE(rows.next());
  EXPECT_THAT(rows.notes(), testing::Contains(HasSubstr("replaced in 2 fields")));
}

TEST(Rows, TakeWhatIsNotFiniteForNoValue) {
  const TestFolder folder;
  const timeline::TableSource table = table_of(folder, "load", kLoad + "1,nan,inf,0\n"s);
  Rows rows(table);
  ASSERT_TRUE(rows.next());
  EXPECT_FALSE(rows.cells()[1].has_value);
  EXPECT_FALSE(rows.cells()[2].has_value);
}

TEST(Rows, NameThePointFirstInASweep) {
  const TestFolder folder;
  const timeline::Source sweep = timeline::open_source(timeline::make_sweep(folder));
  Rows steps(*timeline::find_table(sweep, "steps"));
  std::vector<std::string> points;
  while (steps.next()) points.emplace_back(steps.cells()[0].text);
  EXPECT_THAT(points, ElementsAre("point-000", "point-001"));
  Rows rows(*timeline::find_table(sweep, "points"));
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.cells()[0].text, "point-000");
  EXPECT_EQ(rows.cells()[1].text, "point-000");  // its own column `folder`
}

}  // namespace
}  // namespace tw::timeline
