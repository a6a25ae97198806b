// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/csv.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::result {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  std::string text;
  append_csv(text, "plain text");
  EXPECT_EQ(text, "plain text");
  text.clear();
  append_csv(text, "a,\"b\"\n");
  EXPECT_EQ(text, "\"a,\"\"b\"\"\n\"");
}

TEST(Csv, ReadsBackWhatItWrites) {
  for (const char* field : {"", "x", ",", "\"", "\"\"", "a\r\nb", "\n", " blank ", "=1+1", "'=1",
                            "''@x,\"y\"", "'x", "-3", "-3ms", "\t=1", "'"}) {
    std::string text = "first,";
    append_csv(text, field);
    text += "\n";
    EXPECT_THAT(parse_csv(text, "test"), ElementsAre(ElementsAre("first", field)));
  }
}

TEST(Csv, SpreadsheetsCalculateWithNothingInIt) {
  std::string text;
  for (const char* field : {"=1+1", "+x", "-x", "@SUM(1)", "-3", "2"}) {
    append_csv(text, field);
    text += ",";
  }
  EXPECT_EQ(text, "'=1+1,'+x,'-x,'@SUM(1),-3,2,");
}

TEST(Csv, ReadsOtherPeoplesLineEnds) {
  EXPECT_THAT(parse_csv("\xef\xbb\xbf"
                        "a,b\r\n\r\n1,\"2\"\r\n3,",
                        "test"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2"), ElementsAre("3", "")));
}

TEST(Csv, NamesTheLineOfAQuoteThatStaysOpen) {
  EXPECT_THAT([] { parse_csv("a\n\"b\nc\n", "hosts.csv"); },
              ThrowsMessage<DataError>(HasSubstr("hosts.csv: line 2")));
}

}  // namespace
}  // namespace tw::result
