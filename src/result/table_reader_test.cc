// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/table_reader.h"

#include "trainwire/base/error.h"
#include "trainwire/result/test_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

namespace tw::result {
namespace {

TEST(TableReader, ReadsFieldsByTheirColumns) {
  std::istringstream text("a,b,c\n1,2.5,x\n");
  TableReader table(text);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.integer(table.column("a")), 1);
  EXPECT_EQ(table.number(table.column("b")), 2.5);
  EXPECT_EQ(table.text(table.column("c")), "x");
  EXPECT_FALSE(table.next());
}

TEST(TableReader, HasNothingForAMissingColumnAnEmptyFieldOrAWord) {
  std::istringstream text("a,b\n,word\n");
  TableReader table(text);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.integer(table.column("a")), std::nullopt);
  EXPECT_EQ(table.number(table.column("b")), std::nullopt);
  EXPECT_EQ(table.text(table.column("absent")), "");
}

TEST(TableReader, ReadsQuotedFields) {
  std::istringstream text("a,b\n\"x, \"\"y\"\"\nz\",2\n");
  TableReader table(text);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.text(0), "x, \"y\"\nz");
  EXPECT_EQ(table.text(1), "2");
}

TEST(TableReader, PassesOverARowThatWasCutOff) {
  std::istringstream text("a,b\r\n1,2\r\n\n3");
  TableReader table(text);
  EXPECT_TRUE(table.next());
  EXPECT_EQ(table.text(1), "2");
  EXPECT_FALSE(table.next());
  EXPECT_EQ(table.skipped(), 1U);
}

TEST(TableReader, PassesOverARowWhoseLastFieldMayBeCut) {
  std::istringstream text("a,b\n1,234\n1,2");
  TableReader table(text);
  EXPECT_TRUE(table.next());
  EXPECT_FALSE(table.next());
  EXPECT_EQ(table.skipped(), 1U);
}

TEST(TableReader, AQuoteThatDoesNotEndCostsAMebibyteNotTheFile) {
  std::string text = "a,b\n\"x,1\n";
  while (text.size() < (std::size_t{2} << 20)) text += "2,3\n";
  std::istringstream in(text);
  TableReader table(in);
  EXPECT_TRUE(table.next());
  EXPECT_EQ(table.text(0), "2");
  EXPECT_EQ(table.skipped(), 1U);
}

TEST(OpenTable, APipeIsNoTable) {
  const std::string path = testing::TempDir() + "table_reader_test.pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(open_table(path).is_open());
  ::unlink(path.c_str());
}

TEST(TableReader, HasNoRowsWithoutAHeader) {
  std::istringstream text("");
  TableReader table(text);
  EXPECT_FALSE(table.next());
  EXPECT_FALSE(table.column("a"));
}

TEST(TableReader, TakesNoTimeThatSumsCouldOverflow) {
  std::istringstream in("t\n0\n1794769187670000000\n-1\n9223372036854775807\n");
  TableReader table(in);
  std::vector<bool> is_time;
  while (table.next()) is_time.push_back(table.time_ns(0).has_value());
  EXPECT_EQ(is_time, (std::vector<bool>{true, true, false, false}));
}

TEST(OpenIfThere, TellsNoFileFromOneThatCannotBeRead) {
  const TestFolder folder;
  EXPECT_FALSE(open_if_there(folder / "none").is_open());
  const std::string file = folder.file("a", "x\n");
  EXPECT_TRUE(open_if_there(file).is_open());
  EXPECT_THROW(open_if_there(file + "/inside"), SystemError);
}

}  // namespace
}  // namespace tw::result
