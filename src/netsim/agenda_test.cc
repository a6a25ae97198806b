// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/agenda.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tw::netsim {
namespace {

TEST(Agenda, OfEqualTimesTheFirstEnteredComesFirst) {
  Agenda agenda;
  agenda.add(7, 0, 1);
  agenda.add(5, 0, 2);
  agenda.add(7, 0, 3);
  agenda.add(5, 0, 4);
  std::vector<int> order;
  while (!agenda.empty()) order.push_back(agenda.take().whose);
  EXPECT_EQ(order, (std::vector<int>{2, 4, 1, 3}));
}

// Entered and taken in turn, as simulations do, against a sorted list.
TEST(Agenda, TakesInOrder) {
  Random random(1, "agenda");
  Agenda agenda;
  std::vector<std::pair<Time, int>> sorted;
  for (int i = 0; i < 8'000; ++i) {
    if (sorted.empty() || random.below(5) < 3) {
      const auto at = static_cast<Time>(random.below(50));
      agenda.add(at, 1, i);
      sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), std::pair{at, i}), {at, i});
      continue;
    }
    ASSERT_EQ(agenda.first().at, sorted.front().first);
    ASSERT_EQ(agenda.first().whose, sorted.front().second);
    sorted.erase(sorted.begin());
    if (random.below(2) == 0) {
      agenda.take();
      continue;
    }
    const auto at = static_cast<Time>(random.below(50));
    agenda.replace_first(at, 1, i);
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), std::pair{at, i}), {at, i});
  }
}

}  // namespace
}  // namespace tw::netsim
