// SPDX-License-Identifier: Apache-2.0
// Products of matrices of floats: where a training on a processor spends its time.
//
// Own kernels rather than a BLAS: one thread and no state, so that ranks share a machine as they are
// placed, in namespaces that a library's threads would not be in; the same program runs on a bare
// machine; results depend on the kind of processor alone. Blocks are packed for the cache as Goto &
// van de Geijn 2008 (10.1145/1356052.1356053) describe; the innermost tile is chosen for AVX-512,
// AVX2 or neither when the program starts. docs/learn.md has what it does beside OpenBLAS.

#pragma once

#include <cstdint>

namespace tw::learn {

/// Element (i, j) is data[i * row + j * column]: a transposed matrix is another look at the same.
struct Matrix {
  const float* data = nullptr;
  std::int64_t row = 0;
  std::int64_t column = 1;
};

struct Shape {
  std::int64_t rows = 0;     ///< of the product
  std::int64_t columns = 0;  ///< of the product
  std::int64_t inner = 0;    ///< columns of a, rows of b
};

enum class Into { Replace, Add };

/// c = a b, or c += a b; c is dense, row by row.
void multiply(const Matrix& a, const Matrix& b, const Shape& shape, Into into, float* c);

}  // namespace tw::learn
