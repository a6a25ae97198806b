// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/json_text.h"

#include "trainwire/result/test_folder.h"
#include "trainwire/result/whole_file.h"

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

TEST(TextMember, IsOfTheOutermostObjectAndFoundBeforeItsEnd) {
  const TestFolder test;
  const auto found = [&](std::string_view text) {
    write_whole(test / "x", text);
    return text_member(test / "x", "program");
  };
  EXPECT_EQ(found(R"({"schema": 1, "program": "us", "rest": [)"), "us");
  EXPECT_EQ(found(R"({"a": {"program": "deeper"}, "b": ["program", "x"], "program": "us"})"), "us");
  EXPECT_EQ(found(R"({"a": {"program": "deeper"}})"), std::nullopt);
  EXPECT_EQ(found(R"({"program": {"a": "us"}})"), std::nullopt);
  EXPECT_EQ(found(R"(["program", "us"])"), std::nullopt);
  EXPECT_EQ(found("no document"), std::nullopt);
  EXPECT_EQ(found(""), std::nullopt);
  EXPECT_EQ(text_member(test / "absent", "program"), std::nullopt);
}

}  // namespace
}  // namespace tw::result
