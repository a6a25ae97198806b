// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/json_pieces.h"

#include "trainwire/readers/brackets.h"

#include <gmock/gmock.h>

#include <random>

namespace tw::readers {
namespace {

using testing::ElementsAre;

std::vector<std::string> pieces_of(std::string_view text, bool* early = nullptr) {
  const auto source = capture::memory_source(std::as_bytes(std::span(text.data(), text.size())));
  Pieces pieces(*source, "events");
  std::vector<std::string> found;
  while (pieces.next()) {
    found.push_back((pieces.is_element() ? "" : std::string(pieces.key()) + "=") +
                    std::string(pieces.value()));
  }
  if (early != nullptr) *early = pieces.ended_early();
  return found;
}

TEST(Pieces, GivesMembersAndElements) {
  bool early = true;
  EXPECT_THAT(
      pieces_of(R"( {"a": 1, "events": [{"x": "]}"}, 7 , "s\"]"], "b": {"c": [1]}} )", &early),
      ElementsAre("a=1", R"({"x": "]}"})", "7", R"("s\"]")", R"(b={"c": [1]})"));
  EXPECT_FALSE(early);
  EXPECT_THAT(pieces_of(R"([{"x":1},{"y":2}])"), ElementsAre(R"({"x":1})", R"({"y":2})"));
}

TEST(Pieces, GivesWhatIsWholeOfACutFile) {
  const std::string text = R"({"a": 1, "events": [{"x": 1}, {"x": 2}, {"x": 3}]})";
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    bool early = false;
    const auto whole = pieces_of(text);
    const auto some = pieces_of(std::string_view(text).substr(0, cut), &early);
    EXPECT_TRUE(early) << cut;
    ASSERT_LE(some.size(), whole.size());
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], whole[i]);
  }
}

TEST(Brackets, AreClosedWhereByteByByteSaysSo) {
  std::mt19937 random(7);
  const std::string_view letters = "{}[]\"\\ax {[\"";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "{";
    const std::size_t length = random() % 300;
    for (std::size_t j = 0; j < length; ++j) text += letters[random() % letters.size()];
    ASSERT_EQ(closed_at(text), closed_at_by_bytes(text)) << text;
  }
}

TEST(Numbers, MicrosecondsAreExactToTheNanosecond) {
  EXPECT_EQ(micros_of("3943746980817.720"), 3943746980817720);
  EXPECT_EQ(micros_of("1661203462598738"), 1661203462598738000);
  EXPECT_EQ(micros_of("12.5"), 12500);
  EXPECT_EQ(micros_of("-1.5"), -1500);
  EXPECT_EQ(micros_of("1e3"), 1000000);
  EXPECT_EQ(micros_of("x"), std::nullopt);
}

}  // namespace
}  // namespace tw::readers
