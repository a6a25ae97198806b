// SPDX-License-Identifier: Apache-2.0
#include "trainwire/keys/tree.h"

#include "trainwire/base/error.h"

#include <gtest/gtest.h>

namespace tw::keys {
namespace {

std::string syntax_error(const std::string& text) {
  try {
    read_tree(text, "x.toml");
    return "";
  } catch (const SpecError& error) {
    return error.what();
  }
}

TEST(ReadTree, KeepsTheOrderOfTheFileAndItsLines) {
  const Table table = read_tree("z = 1\n\na = [1,\n2]\n[[m]]\nk = true\n", "x.toml");
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[0].key, "z");
  EXPECT_EQ(table[1].node.place.line, 3);
  EXPECT_EQ(std::get<List>(table[1].node.value)[1].place.line, 4);
  EXPECT_EQ(std::get<List>(table[2].node.value)[0].place.line, 5);
}

TEST(ReadTree, SaysWhereTheSyntaxIsWrong) {
  EXPECT_EQ(syntax_error("a = 1\nb = = 2\n").substr(0, 12), "x.toml:2:5: ");
  EXPECT_EQ(syntax_error("a = 1\na = 2\n").substr(0, 9), "x.toml:2:");
  EXPECT_NE(syntax_error("a = \"\xff\""), "");
  EXPECT_NE(syntax_error("a = 99999999999999999999"), "");
}

TEST(ReadTree, SurvivesDeepNesting) {
  std::string dots = "a";
  for (int i = 0; i < 200'000; ++i) dots += ".a";
  EXPECT_NE(syntax_error(dots + " = 1").find("dots"), std::string::npos);
  EXPECT_NE(syntax_error("a = " + std::string(100'000, '[')), "");
}

TEST(ReadValue, TakesTomlAndElseTheTextItself) {
  const auto printed = [](std::string_view text) { return print(*read_value(text, {})); };
  EXPECT_EQ(printed("7"), "7");
  EXPECT_EQ(printed("[1, \"a\"]"), "[1, \"a\"]");
  EXPECT_EQ(printed("true"), "true");
  EXPECT_EQ(printed("1Gbit"), "\"1Gbit\"");
  EXPECT_EQ(printed(""), "\"\"");
  // A second key does not slip in behind a line break.
  EXPECT_EQ(printed("1\nw = 2"), "\"1\\u000Aw = 2\"");
  EXPECT_EQ(read_value("\xff", {}), std::nullopt);
}

TEST(ReadValue, PutsEveryNodeWhereTheOptionStands) {
  const Node node = *read_value("[1, {a = 2}]", {.set = 3});
  const List& list = std::get<List>(node.value);
  EXPECT_EQ(list[0].place.set, 3);
  EXPECT_EQ(find(std::get<Table>(list[1].value), "a")->place.set, 3);
}

TEST(Print, IsReadBackToTheSameText) {
  for (const char* text : {"1e-05", "0.1", "1e+300", "-3", "\"a\\\\b\\\"c\\u0007\"", "[[1], []]",
                           "{a = 1, \"b c\" = \"x\"}", "9007199254740994", "nan", "-inf"}) {
    EXPECT_EQ(print(*read_value(text, {})), text);
  }
}

TEST(PrintKey, QuotesWhatIsNoBareWord) {
  EXPECT_EQ(print_key("side_connections"), "side_connections");
  EXPECT_EQ(print_key("job.0.load"), "\"job.0.load\"");
  EXPECT_EQ(print_key(""), "\"\"");
}

}  // namespace
}  // namespace tw::keys
