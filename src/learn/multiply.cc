// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/multiply.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tw::learn {
namespace {

/// A tile is some rows of sixteen columns; one row is a register, or two, or four.
constexpr std::int64_t kColumns = 16;
/// What of `inner` is packed at a time: a tile's share of b stays in the first cache.
constexpr std::int64_t kInner = 256;
/// Rows of a that are packed at a time, as many as the second cache holds; a multiple of every
/// tile's rows.
constexpr std::int64_t kRows = 240;

typedef float Wide __attribute__((vector_size(64)));

/// c += a b for one tile; a is packed column by column, b row by row.
using Tile = void (*)(const float* a, const float* b, std::int64_t inner, float* c);

template <int... kRow>
[[gnu::always_inline]] inline void tile(const float* a, const float* b, std::int64_t inner,
                                        float* c, std::integer_sequence<int, kRow...>) {
  constexpr int kHeight = sizeof...(kRow);
  Wide sums[kHeight] = {};
  for (std::int64_t k = 0; k < inner; ++k) {
    Wide line;
    __builtin_memcpy(&line, b + kColumns * k, sizeof line);
    const float* const column = a + kHeight * k;
    ((sums[kRow] += column[kRow] * line), ...);
  }
  __builtin_memcpy(c, sums, sizeof sums);
}

void plain_tile(const float* a, const float* b, std::int64_t inner, float* c) {
  tile(a, b, inner, c, std::make_integer_sequence<int, 3>());
}

struct Kernel {
  std::int64_t rows;
  Tile tile;
};

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void avx2_tile(const float* a, const float* b, std::int64_t inner,
                                           float* c) {
  tile(a, b, inner, c, std::make_integer_sequence<int, 6>());
}

[[gnu::target("avx512f,fma")]] void avx512_tile(const float* a, const float* b, std::int64_t inner,
                                                float* c) {
  tile(a, b, inner, c, std::make_integer_sequence<int, 12>());
}

Kernel choose() {
  if (__builtin_cpu_supports("avx512f")) return {12, avx512_tile};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {6, avx2_tile};
  return {3, plain_tile};
}
#else
Kernel choose() { return {3, plain_tile}; }
#endif

/// Panels of `height` rows each, column by column, the last one filled up with zeros.
void pack(const Matrix& from, std::int64_t rows, std::int64_t inner, std::int64_t height,
          std::vector<float>& into) {
  const std::int64_t panels = (rows + height - 1) / height;
  into.resize(static_cast<std::size_t>(panels * height * inner));
  float* out = into.data();
  for (std::int64_t first = 0; first < rows; first += height, out += height * inner) {
    const std::int64_t there = std::min(height, rows - first);
    // Along memory, whichever way the matrix lies there.
    if (from.row == 1) {
      for (std::int64_t k = 0; k < inner; ++k) {
        const float* const line = from.data + first + k * from.column;
        std::copy_n(line, there, out + height * k);
        std::fill_n(out + height * k + there, height - there, 0.0f);
      }
      continue;
    }
    for (std::int64_t i = 0; i < height; ++i) {
      const float* const line = from.data + (first + i) * from.row;
      for (std::int64_t k = 0; k < inner; ++k) {
        out[height * k + i] = i < there ? line[k * from.column] : 0.0f;
      }
    }
  }
}

/// What multiply() packs into; threads have their own.
struct Packed {
  std::vector<float> a;
  std::vector<float> b;
};

struct Place {
  float* first;
  std::int64_t width;  ///< of the product
  std::int64_t rows;   ///< of the tile, as far as it is inside
  std::int64_t columns;
};

void put(const float* sums, Into into, const Place& place) {
  for (std::int64_t i = 0; i < place.rows; ++i) {
    float* const row = place.first + i * place.width;
    const float* const sum = sums + i * kColumns;
    if (into == Into::Replace) {
      std::copy_n(sum, place.columns, row);
      continue;
    }
    for (std::int64_t j = 0; j < place.columns; ++j) row[j] += sum[j];
  }
}

}  // namespace

void multiply(const Matrix& a, const Matrix& b, const Shape& shape, Into into, float* c) {
  static const Kernel kernel = choose();
  thread_local Packed packed;
  if (into == Into::Replace && shape.inner == 0) {
    std::fill_n(c, shape.rows * shape.columns, 0.0f);
  }
  alignas(64) float sums[12 * kColumns];
  for (std::int64_t k = 0; k < shape.inner; k += kInner) {
    const std::int64_t inner = std::min(kInner, shape.inner - k);
    const Into how = k == 0 ? into : Into::Add;
    // Seen from the side, b's columns are rows too.
    pack({b.data + k * b.row, b.column, b.row}, shape.columns, inner, kColumns, packed.b);
    for (std::int64_t first = 0; first < shape.rows; first += kRows) {
      const std::int64_t rows = std::min(kRows, shape.rows - first);
      pack({a.data + first * a.row + k * a.column, a.row, a.column}, rows, inner, kernel.rows,
           packed.a);
      for (std::int64_t j = 0; j < shape.columns; j += kColumns) {
        for (std::int64_t i = 0; i < rows; i += kernel.rows) {
          kernel.tile(packed.a.data() + i * inner, packed.b.data() + j * inner, inner, sums);
          put(sums, how,
              {.first = c + (first + i) * shape.columns + j,
               .width = shape.columns,
               .rows = std::min(kernel.rows, rows - i),
               .columns = std::min(kColumns, shape.columns - j)});
        }
      }
    }
  }
}

}  // namespace tw::learn
