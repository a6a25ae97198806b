// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/table_file.h"

#include "trainwire/base/error.h"
#include "trainwire/result/csv.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>

namespace tw::result {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::array kColumns{
    Column{"name", Type::Text, "", "a name"},
    Column{"time_ns", Type::Integer, "ns", "a time"},
    Column{"share", Type::Real, "", "a share"},
};
constexpr Table kTable{"test", "a test", kColumns};

TEST(TableFile, WritesHeaderAndRows) {
  const TestFolder folder;
  TableFile table(kTable, folder / "test.csv");
  table.row({"a, b", std::int64_t{-1}, 0.25});
  table.row({std::string("c"), std::numeric_limits<std::uint64_t>::max(), 1e300});
  table.row({Cell(), Cell(), std::nan("")});
  table.close();
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(content(folder / "test.csv"),
            "name,time_ns,share\n\"a, b\",-1,0.25\nc,18446744073709551615,1e+300\n,,\n");
}

TEST(TableFile, RefusesRowsThatDoNotFit) {
  const TestFolder folder;
  TableFile table(kTable, folder / "test.csv");
  EXPECT_THROW(table.row({"a", 1}), std::logic_error);
  EXPECT_THROW(table.row({1, 1, 1.0}), std::logic_error);
  EXPECT_THROW(table.row({"a", 1.0, 1.0}), std::logic_error);
  EXPECT_THROW(table.beginning({7}), std::logic_error);
  EXPECT_THROW(table.row(table.beginning({"a", 7}), {1}), std::logic_error);
  EXPECT_THROW(table.row(table.beginning({"a", 7}), {0.5, 0.5}), std::logic_error);
}

TEST(TableFile, RowsMayShareTheirBeginning) {
  const TestFolder folder;
  TableFile table(kTable, folder / "test.csv");
  const RowBeginning beginning = table.beginning({"a, b", 7});
  table.row(beginning, {0.5});
  table.row(beginning, {Cell()});
  table.close();
  EXPECT_EQ(content(folder / "test.csv"), "name,time_ns,share\n\"a, b\",7,0.5\n\"a, b\",7,\n");
}

TEST(TableFile, HoldsMoreRowsThanItsBuffer) {
  const TestFolder folder;
  TableFile table(kTable, folder / "test.csv");
  for (int i = 0; i < 50'000; ++i) table.row({"some name", i, 0.5});
  table.close();
  const auto rows = parse_csv(content(folder / "test.csv"), "test");
  ASSERT_EQ(rows.size(), 50'001u);
  EXPECT_EQ(rows.back()[1], "49999");
}

TEST(TableFile, AFullDiskIsNamedWithARemedy) {
  TableFile table(kTable, "/dev/full");
  table.row({"a", 1, 1.0});
  EXPECT_THAT([&] { table.close(); },
              ThrowsMessage<SystemError>(
                  AllOf(HasSubstr("/dev/full"), HasSubstr("No space left"), HasSubstr("--out"))));
}

TEST(TableFile, APlaceThatCannotBeWrittenIsNamed) {
  EXPECT_THAT([] { TableFile(kTable, "/dev/null/test.csv"); },
              ThrowsMessage<SystemError>(HasSubstr("/dev/null/test.csv")));
}

}  // namespace
}  // namespace tw::result
