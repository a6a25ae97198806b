// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/json_text.h"

#include <gmock/gmock.h>

namespace tw::result {
namespace {

TEST(Nesting, CountsBracketsOutsideOfTexts) {
  EXPECT_EQ(nesting("7"), 0U);
  EXPECT_EQ(nesting(R"({"a": [1, [2]], "b": []})"), 3U);
  EXPECT_EQ(nesting(R"(["[[[", "\"[[["])"), 1U);
  EXPECT_EQ(nesting("]]]["), 1U);
}

TEST(ParseJson, WhatIsNoneOrTooDeepIsNull) {
  EXPECT_EQ(parse_json(R"({"a": [1]})"), (nlohmann::ordered_json{{"a", {1}}}));
  EXPECT_EQ(parse_json(R"({"a": [1]})", 1), nullptr);
  EXPECT_EQ(parse_json("{\"a\": "), nullptr);
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(parse_json(deep + std::string(deep.size(), ']')), nullptr);
}

TEST(ReadJson, AFileThatIsNotThereIsNull) { EXPECT_EQ(read_json("/no/such/file"), nullptr); }

}  // namespace
}  // namespace tw::result
