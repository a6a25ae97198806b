// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/buffers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tw::fabric {
namespace {

TEST(BufferPool, CountsWholeClassesWhileTheyAreHeld) {
  BufferPool pool(1'000'000);
  {
    const auto small = pool.take(60);
    const auto large = pool.take(2049);
    EXPECT_EQ(small->size(), 60);
    EXPECT_EQ(pool.held_bytes(), 2048 + 10'240);
  }
  EXPECT_EQ(pool.held_bytes(), 0);
}

// 5000 bytes hold two buffers of 2048.
TEST(BufferPool, GivesNothingBeyondItsBound) {
  BufferPool pool(5000);
  auto first = pool.take(1500);
  const auto second = pool.take(1);
  EXPECT_FALSE(pool.take(1));
  EXPECT_FALSE(pool.take(9000));
  first.reset();
  EXPECT_TRUE(pool.take(1));
}

TEST(BufferPool, UsesMemoryAgain) {
  BufferPool pool(100'000);
  const std::uint8_t* const before = pool.take(66'000)->bytes().data();
  EXPECT_EQ(pool.take(65'000)->bytes().data(), before);
}

TEST(BufferPool, CopiesTheBytes) {
  BufferPool pool(100'000);
  std::vector<std::uint8_t> bytes(3000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const auto copy = pool.copy(bytes);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), copy->bytes().begin(), copy->bytes().end()));
  EXPECT_EQ(pool.copy({})->size(), 0);
}

TEST(BufferPool, RefusesMoreThanTheLargestFrame) {
  BufferPool pool(1'000'000);
  EXPECT_THROW(pool.take(66 * 1024 + 1), std::logic_error);
}

TEST(Buffer, AMovedOneReturnsOnce) {
  BufferPool pool(100'000);
  Buffer a = *pool.take(2000);
  Buffer b = std::move(a);
  a = *pool.take(9000);
  b = std::move(a);  // the small one is now a's
  EXPECT_EQ(b.size(), 9000);
  EXPECT_EQ(pool.held_bytes(), 2048 + 10'240);
}

TEST(Buffer, ShrinksAndDoesNotGrow) {
  BufferPool pool(100'000);
  Buffer buffer = *pool.take(5000);
  buffer.shrink(60);
  EXPECT_EQ(buffer.bytes().size(), 60);
  EXPECT_THROW(buffer.shrink(5001), std::logic_error);
}

}  // namespace
}  // namespace tw::fabric
