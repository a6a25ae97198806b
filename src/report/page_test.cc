// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/page.h"

#include "trainwire/report/template.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace tw::report {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

TEST(ScriptJson, CannotEndTheElementThatHoldsIt) {
  const std::string text = script_json({{"name", "</script><script>alert(1)</script><!--&"}});
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_THAT(text, Not(HasSubstr(">")));
  EXPECT_THAT(text, Not(HasSubstr("&")));
}

TEST(ScriptJson, IsTheSameDocumentWhenRead) {
  const ordered_json document{{"<&>", "a\u2028b\u2029c</script>\"\\ü"}, {"n", {1, 2.5, nullptr}}};
  EXPECT_EQ(ordered_json::parse(script_json(document)), document);
  EXPECT_THAT(script_json(document), HasSubstr("a\\u2028b\\u2029c"));
}

TEST(ScriptJson, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(script_json("a\xff"), "\"a\xef\xbf\xbd\"");
}

TEST(Filled, PutsTheDocumentWhereTheMarkIs) {
  EXPECT_EQ(filled("<a>TRAINWIRE_DATA</a>", {{"x", 1}}), "<a>{\"x\":1}</a>");
}

TEST(Filled, WantsExactlyOneMark) {
  EXPECT_THROW(filled("no mark", {}), std::logic_error);
  EXPECT_THROW(filled("TRAINWIRE_DATA TRAINWIRE_DATA", {}), std::logic_error);
}

TEST(Template, IsTheFileOfTheTree) {
  EXPECT_EQ(page_template(), result::content(TW_SOURCE_DIR "/src/report/template.html"));
}

TEST(Template, IsSmallAndMayLoadNothing) {
  EXPECT_LE(page_template().size(), 128'000U);
  EXPECT_THAT(page_template(), HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page_template(), Not(HasSubstr("unsafe-inline")));
  // Names of namespaces are no addresses to load from; there is no other "http".
  EXPECT_THAT(page_template(), Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page_template(), HasSubstr("MIT licence"));
}

}  // namespace
}  // namespace tw::report
