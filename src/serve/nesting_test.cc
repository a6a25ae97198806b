// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/nesting.h"

#include <gmock/gmock.h>

namespace tw::serve {
namespace {

TEST(Nesting, CountsBracketsOutsideOfTexts) {
  EXPECT_EQ(nesting("7"), 0U);
  EXPECT_EQ(nesting(R"({"a": [1, [2]], "b": []})"), 3U);
  EXPECT_EQ(nesting(R"(["[[[", "\"[[["])"), 1U);
  EXPECT_EQ(nesting("]]]["), 1U);
}

}  // namespace
}  // namespace tw::serve
