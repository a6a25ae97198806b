// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/past_caches.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace tw::packet {
namespace {

TEST(CopyPastCaches, CopiesEveryByteAndNothingBehind) {
  for (const std::size_t count : {0u, 1u, 63u, 1000u}) {
    std::vector<Packet> from(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::memset(static_cast<void*>(&from[i]), static_cast<int>(1 + i % 250), sizeof(Packet));
    }
    std::vector<Packet> to(count + 1);
    copy_past_caches(from, to.data());
    EXPECT_TRUE(count == 0 || std::memcmp(from.data(), to.data(), count * sizeof(Packet)) == 0);
    EXPECT_EQ(to[count].time_ns, 0);
  }
}

}  // namespace
}  // namespace tw::packet
