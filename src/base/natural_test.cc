// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/natural.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tw {
namespace {

TEST(NaturalLess, CountsNumbersAsNumbers) {
  std::vector<std::string> names{"host10", "host2", "host1", "host02", "10.0.0.9", "10.0.0.10",
                                 "",       "host",  "a1b10", "a1b9",   "rank 3",   "host2x"};
  std::sort(names.begin(), names.end(), NaturalLess());
  EXPECT_THAT(names,
              testing::ElementsAre("", "10.0.0.9", "10.0.0.10", "a1b9", "a1b10", "host", "host1",
                                   "host02", "host2", "host2x", "host10", "rank 3"));
}

TEST(NaturalLess, IsAnOrder) {
  const std::vector<std::string> names{"", "0", "00", "a", "a0", "a00", "a0b", "a00b", "a10", "a9"};
  const NaturalLess less;
  for (const std::string& a : names) {
    EXPECT_FALSE(less(a, a));
    for (const std::string& b : names) {
      EXPECT_EQ(less(a, b) || less(b, a), a != b) << a << ' ' << b;
      EXPECT_FALSE(less(a, b) && less(b, a)) << a << ' ' << b;
      for (const std::string& c : names) {
        EXPECT_TRUE(!(less(a, b) && less(b, c)) || less(a, c)) << a << ' ' << b << ' ' << c;
      }
    }
  }
}

}  // namespace
}  // namespace tw
