// SPDX-License-Identifier: Apache-2.0
// Made-up gradients whose sum is known: whole numbers small enough that floats add them exactly in
// any order, different for every rank, step and element.
//
// Element i of rank r is weight(r) * pattern(i, step) + offset(r, step). Sums over ranks follow
// from the sums of weights and offsets, so checking costs one pass whatever the number of ranks. A
// rank that is missing, counted twice or of another step changes the sum.

#pragma once

#include <cstdint>
#include <span>

namespace tw::trainer {

/// Writes rank's gradients of a step; `first` is the number of the first element.
void fill(std::span<float> elements, std::int64_t first, int rank, std::int64_t step);

/// How many elements are not the sum over ranks 0..workers-1. REQUIRES: workers <= 8192.
std::int64_t wrong_sums(std::span<const float> elements, std::int64_t first, int workers,
                        std::int64_t step);

/// How many are not the sum over ranks and all steps of [first_step, end_step). REQUIRES: that
/// floats hold such sums exactly: (steps) * workers <= 10,000.
std::int64_t wrong_totals(std::span<const float> elements, std::int64_t first, int workers,
                          std::int64_t first_step, std::int64_t end_step);

/// How many are not rank `of`'s alone.
std::int64_t wrong_copies(std::span<const float> elements, std::int64_t first, int of,
                          std::int64_t step);

/// How many lie outside what averages of the ranks' first values can be.
std::int64_t wrong_averages(std::span<const float> elements, std::int64_t first, int ranks,
                            std::int64_t step);

}  // namespace tw::trainer
