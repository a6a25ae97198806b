// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw {
namespace {

TEST(Check, PassesWhatHolds) { EXPECT_NO_THROW(check(true, "true is true")); }

TEST(Check, NamesThePlaceAndTheContract) {
  EXPECT_THAT([] { check(false, "a ring needs a rank"); },
              testing::ThrowsMessage<std::logic_error>(testing::AllOf(
                  testing::HasSubstr("error_test.cc"), testing::HasSubstr("a ring needs a rank"))));
}

}  // namespace
}  // namespace tw
