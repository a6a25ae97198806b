// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/schema.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace tw::result {
namespace {

using testing::HasSubstr;

std::string formats_document() {
  std::ifstream in(TW_SOURCE_DIR "/docs/formats.md");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(Schema, DocumentListsEveryColumnOfEveryTable) {
  const std::string text = formats_document();
  for (const Table& table : tables()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("### {}.csv\n\n{}.", table.name, table.meaning)));
    const std::string section = text.substr(text.find(fmt::format("### {}.csv", table.name)));
    for (const Column& column : table.columns) {
      EXPECT_THAT(section,
                  HasSubstr(fmt::format("| `{}` | {} | {} | {} |", column.name,
                                        name_of(column.type), column.unit, column.meaning)));
    }
  }
}

TEST(Schema, NamesAreUniqueAndCarryTheirUnit) {
  const std::map<std::string_view, std::string_view> suffixes{
      {"ns", "_ns"}, {"s", "_s"}, {"bit/s", "_bps"}, {"bytes", "bytes"}};
  for (const Table& table : tables()) {
    std::set<std::string_view> names;
    for (const Column& column : table.columns) {
      EXPECT_TRUE(names.insert(column.name).second) << table.name << " " << column.name;
      const auto suffix = suffixes.find(column.unit);
      EXPECT_TRUE(suffix == suffixes.end() || column.name.find(suffix->second) != column.name.npos)
          << table.name << " " << column.name;
    }
  }
}

TEST(Schema, TablesAreFoundByName) {
  EXPECT_EQ(find_table("flows")->name, "flows");
  EXPECT_EQ(find_table("flow"), nullptr);
}

}  // namespace
}  // namespace tw::result
