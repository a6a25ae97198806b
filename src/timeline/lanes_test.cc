// SPDX-License-Identifier: Apache-2.0
#include "trainwire/timeline/lanes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

namespace tw::timeline {
namespace {

using testing::ElementsAre;

Slice slice(std::int64_t start, std::int64_t end, std::string name) {
  return {.start_ns = start, .end_ns = end, .name = std::move(name)};
}

std::vector<std::string> walked(const std::vector<Slice>& lane) {
  std::vector<std::string> lines;
  walk(
      lane, [&](const Slice& s) { lines.push_back(fmt::format("{}+{}", s.start_ns, s.name)); },
      [&](const Slice& s) { lines.push_back(fmt::format("{}-{}", s.end_ns, s.name)); });
  return lines;
}

TEST(Lanes, NestPhasesInTheirStep) {
  const auto lanes = lanes_of({slice(0, 4, "forward"), slice(4, 9, "backward"),
                               slice(0, 10, "step"), slice(10, 12, "next")});
  ASSERT_EQ(lanes.size(), 1);
  EXPECT_THAT(walked(lanes[0]), ElementsAre("0+step", "0+forward", "4-forward", "4+backward",
                                            "9-backward", "10-step", "10+next", "12-next"));
}

TEST(Lanes, MoveWhatOverlapsWithoutNestingToAFurtherLane) {
  //  backward |------|
  //  exchange     |------|
  const auto lanes = lanes_of({slice(0, 6, "backward"), slice(4, 10, "exchange")});
  ASSERT_EQ(lanes.size(), 2);
  EXPECT_EQ(lanes[0][0].name, "backward");
  EXPECT_EQ(lanes[1][0].name, "exchange");
}

TEST(Lanes, TakeSlicesWithoutLength) {
  const auto lanes = lanes_of({slice(0, 4, "a"), slice(4, 4, "moment"), slice(4, 8, "b")});
  ASSERT_EQ(lanes.size(), 1);
  EXPECT_THAT(walked(lanes[0]), ElementsAre("0+a", "4-a", "4+b", "4+moment", "4-moment", "8-b"));
}

TEST(Lanes, LoseNothing) {
  std::vector<Slice> slices;
  for (std::int64_t i = 0; i < 100; ++i)
    slices.push_back(slice(i * 7 % 50, i * 7 % 50 + i % 13, "s"));
  std::size_t begins = 0, ends = 0;
  for (const auto& lane : lanes_of(slices)) {
    std::int64_t now = 0;
    walk(
        lane,
        [&](const Slice& s) {
          EXPECT_LE(now, s.start_ns);
          now = s.start_ns;
          ++begins;
        },
        [&](const Slice& s) {
          EXPECT_LE(now, s.end_ns);
          now = s.end_ns;
          ++ends;
        });
  }
  EXPECT_EQ(begins, 100);
  EXPECT_EQ(ends, 100);
}

}  // namespace
}  // namespace tw::timeline
