// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/reference.h"

#include "trainwire/spec/test_experiments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace tw::spec {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDocument = "docs/experiment-file.md";
const std::string kBegin = "<!-- keys: made by spec_test -->\n\n";
const std::string kEnd = "<!-- end of keys -->\n";

/// The document with its tables made anew.
std::string refreshed(const std::string& document) {
  const std::size_t begin = document.find(kBegin);
  const std::size_t end = document.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return document.substr(0, begin) + kBegin + reference_markdown() + document.substr(end);
}

// After a change of keys, TW_REFRESH=1 spec_test --gtest_filter='Reference.*' writes the tables
// anew.
TEST(Reference, IsWhatTheDocumentHolds) {
  const std::string document = contents(kDocument);
  const std::string expected = refreshed(document);
  ASSERT_NE(expected, "") << kDocument << " has lost the marks around its tables";
  if (std::getenv("TW_REFRESH") != nullptr) {
    std::ofstream(std::string(TW_SOURCE_DIR) + "/" + kDocument) << expected;
  } else {
    EXPECT_EQ(document, expected);
  }
}

TEST(Reference, NamesEveryKeyOnceWithItsMeaning) {
  for (const SectionText& section : reference()) {
    std::vector<std::string> keys;
    for (const KeyText& key : section.keys) {
      EXPECT_FALSE(key.type.empty() || key.otherwise.empty() || key.help.empty()) << key.key;
      keys.push_back(key.key);
    }
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end()) << section.header;
  }
}

TEST(Reference, ShowsDefaultsAsTheyWouldBeWritten) {
  const std::string text = reference_markdown();
  EXPECT_THAT(text, HasSubstr("| `rate` | rate | `\"1Gbit\"` | of each link, per direction |"));
  EXPECT_THAT(text, HasSubstr("| `hosts` | whole number | `4` |"));
  EXPECT_THAT(text, HasSubstr("| `timeout` | time | `\"600s\"` |"));
}

// The document's example is the design's.
TEST(Reference, StandsBesideAnExampleThatParses) {
  const std::string document = contents(kDocument);
  const std::size_t begin = document.find("```toml\n");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = document.find("```", begin + 8);
  EXPECT_EQ(problems(document.substr(begin + 8, end - begin - 8)), "");
}

}  // namespace
}  // namespace tw::spec
