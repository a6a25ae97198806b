// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/parallel.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <vector>

namespace tw {
namespace {

TEST(InParallel, DoesEachPieceOnce) {
  std::vector<int> done(1000);
  in_parallel(done.size(), [&](std::size_t i) { ++done[i]; });
  EXPECT_THAT(done, testing::Each(1));
}

TEST(InParallel, NothingToDoIsNothing) {
  in_parallel(0, [](std::size_t) { FAIL(); });
}

TEST(InParallel, ThrowsWhatAPieceThrows) {
  EXPECT_THROW(in_parallel(100,
                           [](std::size_t i) {
                             if (i == 57) throw std::runtime_error("57");
                           }),
               std::runtime_error);
}

}  // namespace
}  // namespace tw
