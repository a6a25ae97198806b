// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/due_times.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace tw::regular {
namespace {

// Against a map in which the least is looked for.
TEST(DueTimes, GiveTheNextWhateverChanges) {
  Random random(1, "due times");
  DueTimes due;
  std::map<std::uint32_t, Duration> all;
  for (int i = 0; i < 20000; ++i) {
    const auto number = static_cast<std::uint32_t>(random.below(300));
    const Duration at(static_cast<std::int64_t>(random.below(1000)));
    if (random.below(3) > 0) {
      due.set(number, at);
      all[number] = at;
    } else if (!all.empty()) {
      auto least = all.begin();
      for (auto it = all.begin(); it != all.end(); ++it) {
        if (it->second < least->second) least = it;
      }
      ASSERT_EQ(due.next(), least->first);
      ASSERT_EQ(due.next_time(), least->second);
      due.pop();
      all.erase(least);
    }
    ASSERT_EQ(due.empty(), all.empty());
  }
}

}  // namespace
}  // namespace tw::regular
