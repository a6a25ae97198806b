// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/top_k.h"

#include <gmock/gmock.h>

namespace tw::learn {
namespace {

using testing::ElementsAre;

std::vector<float> sum(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] + b[i]);
  return result;
}

TEST(TopK, SendsWhatWasChosenAndKeepsTheRest) {
  TopK one(6, 2);
  TopK two(6, 2);
  std::vector<float> from_one(4);
  std::vector<float> from_two(4);
  std::vector<float> got(6);
  // First the evenly spread 0 and 3 travel; the first worker chooses from what it kept: 5 and 1.
  one.send(std::vector<float>{1, -8, 0, 4, 2, 9}, true, from_one);
  two.send(std::vector<float>{10, 1, 0, 40, 0, 1}, false, from_two);
  EXPECT_THAT(from_one, ElementsAre(1, 4, 1, 5));
  EXPECT_THAT(from_two, ElementsAre(10, 40, 0, 0));
  one.receive(sum(from_one, from_two), got);
  two.receive(sum(from_one, from_two), got);
  EXPECT_THAT(got, ElementsAre(11, 0, 0, 44, 0, 0));
  // Then 1 and 5, the first step's included.
  one.send(std::vector<float>(6, 0.5f), false, from_one);
  two.send(std::vector<float>(6, 0.5f), true, from_two);
  EXPECT_THAT(from_one, ElementsAre(-7.5f, 9.5f, 0, 0));
  two.receive(sum(from_one, from_two), got);
  EXPECT_THAT(got, ElementsAre(0, -6, 0, 0, 0, 11));
  EXPECT_THAT(one.kept(), ElementsAre(0.5f, 0, 0.5f, 0.5f, 2.5f, 0));
}

TEST(TopK, TakesNumbersThatCannotBeMeantForZero) {
  TopK one(4, 1);
  std::vector<float> got(4);
  one.receive(std::vector<float>{1, 1e9f}, got);
  EXPECT_THAT(one.next(), ElementsAre(0));
  one.receive(std::vector<float>{1, -1}, got);
  EXPECT_THAT(one.next(), ElementsAre(0));
}

}  // namespace
}  // namespace tw::learn
