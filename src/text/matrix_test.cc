// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/matrix.h"

#include <gmock/gmock.h>

namespace tw::text {
namespace {

TEST(DrawMatrix, WritesBytesWhereHostsAreFew) {
  const std::vector<predict::PairBytes> pairs{{.from = 0, .to = 1, .bytes = 153_MB}};
  const std::vector<std::string> lines = draw_matrix(pairs, 2);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], testing::HasSubstr("host1"));
  EXPECT_THAT(lines[1], testing::HasSubstr("██   153 MB"));
  EXPECT_THAT(lines[2], testing::Not(testing::HasSubstr("█")));
}

TEST(DrawMatrix, SumsNeighboursWhereHostsAreMany) {
  // A ring of 1,000 in 16 blocks: blocks talk to themselves and, thinly, to the next one.
  std::vector<predict::PairBytes> pairs;
  for (int host = 0; host < 1000; ++host)
    pairs.push_back({.from = host, .to = (host + 1) % 1000, .bytes = 1_MB});
  const std::vector<std::string> lines = draw_matrix(pairs, 1000);
  ASSERT_EQ(lines.size(), 17u);
  EXPECT_THAT(lines[1], testing::HasSubstr("███  ░░░"));
}

TEST(DrawMatrix, DrawsAnEmptyMatrixAndNoHosts) {
  EXPECT_EQ(draw_matrix({}, 1).size(), 2u);
  EXPECT_TRUE(draw_matrix({}, 0).empty());
}

}  // namespace
}  // namespace tw::text
