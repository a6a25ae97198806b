// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/multiply.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::learn {
namespace {

std::vector<float> some(std::int64_t count, Random& random) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(static_cast<int>(random.below(17)) - 8));
  }
  return values;
}

/// Whole numbers: floats add them exactly in any order.
TEST(Multiply, AgreesWithTheDefinitionForAnyShapeAndLook) {
  Random random(1, "matrices");
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{13, 17, 5}, Shape{64, 10, 300},
                             Shape{250, 33, 9}, Shape{3, 48, 513}, Shape{12, 16, 0}}) {
    const std::vector<float> a = some(shape.rows * shape.inner, random);
    const std::vector<float> b = some(shape.inner * shape.columns, random);
    std::vector<float> expected(static_cast<std::size_t>(shape.rows * shape.columns), 1);
    const auto at = [&](std::int64_t i, std::int64_t width, std::int64_t j) {
      return static_cast<std::size_t>(i * width + j);
    };
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      for (std::int64_t j = 0; j < shape.columns; ++j) {
        for (std::int64_t k = 0; k < shape.inner; ++k) {
          expected[at(i, shape.columns, j)] +=
              a[at(i, shape.inner, k)] * b[at(k, shape.columns, j)];
        }
      }
    }
    std::vector<float> c(expected.size(), 1);
    multiply({a.data(), shape.inner, 1}, {b.data(), shape.columns, 1}, shape, Into::Add, c.data());
    EXPECT_EQ(c, expected);
    // The transposed product, from the same two: its elements are the same.
    std::vector<float> turned(c.size());
    multiply({b.data(), 1, shape.columns}, {a.data(), 1, shape.inner},
             {shape.columns, shape.rows, shape.inner}, Into::Replace, turned.data());
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      for (std::int64_t j = 0; j < shape.columns; ++j) {
        EXPECT_EQ(turned[at(j, shape.rows, i)] + 1, expected[at(i, shape.columns, j)]);
      }
    }
  }
}

}  // namespace
}  // namespace tw::learn
