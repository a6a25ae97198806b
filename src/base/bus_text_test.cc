// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/bus_text.h"

#include <gtest/gtest.h>

namespace tw {
namespace {

TEST(BusText, IsInTheUnitOfNcclTests) {
  EXPECT_EQ(bus_text(384e9), "48 GB/s");
  EXPECT_EQ(bus_text(48.89e6), "0.006111 GB/s");
  EXPECT_EQ(bus_text(0), "0 GB/s");
}

}  // namespace
}  // namespace tw
