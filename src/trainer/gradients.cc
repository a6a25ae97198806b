// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/gradients.h"

#include <algorithm>

namespace tw::trainer {
namespace {

/// 0..127, without a short period.
std::int32_t pattern(std::int64_t element, std::int64_t step) {
  const auto mixed = static_cast<std::uint64_t>(element + 7919 * step) * 0x9E3779B97F4A7C15u;
  return static_cast<std::int32_t>(mixed >> 57);
}

std::int32_t weight(int rank) { return 1 + rank % 7; }

std::int32_t offset(int rank, std::int64_t step) {
  return static_cast<std::int32_t>((rank * 31 + (step % 509 + 509) * 17) % 509);
}

/// Elements are weight * pattern + offset.
struct Line {
  std::int64_t weight = 0;
  std::int64_t offset = 0;
};

Line sum_of(int workers, std::int64_t step) {
  Line sum;
  for (int rank = 0; rank < workers; ++rank) {
    sum.weight += weight(rank);
    sum.offset += offset(rank, step);
  }
  return sum;
}

std::int64_t count_others(std::span<const float> elements, std::int64_t first, std::int64_t step,
                          const Line& line) {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::int64_t is = pattern(first + static_cast<std::int64_t>(i), step);
    wrong += elements[i] != static_cast<float>(line.weight * is + line.offset);
  }
  return wrong;
}

}  // namespace

void fill(std::span<float> elements, std::int64_t first, int rank, std::int64_t step) {
  const std::int32_t w = weight(rank);
  const std::int32_t o = offset(rank, step);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<float>(w * pattern(first + static_cast<std::int64_t>(i), step) + o);
  }
}

std::int64_t wrong_sums(std::span<const float> elements, std::int64_t first, int workers,
                        std::int64_t step) {
  return count_others(elements, first, step, sum_of(workers, step));
}

std::int64_t wrong_totals(std::span<const float> elements, std::int64_t first, int workers,
                          std::int64_t first_step, std::int64_t end_step) {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::int64_t total = 0;
    for (std::int64_t step = first_step; step < end_step; ++step) {
      const Line sum = sum_of(workers, step);
      total += sum.weight * pattern(first + static_cast<std::int64_t>(i), step) + sum.offset;
    }
    wrong += elements[i] != static_cast<float>(total);
  }
  return wrong;
}

std::int64_t wrong_copies(std::span<const float> elements, std::int64_t first, int of,
                          std::int64_t step) {
  return count_others(elements, first, step, {.weight = weight(of), .offset = offset(of, step)});
}

std::int64_t wrong_averages(std::span<const float> elements, std::int64_t first, int ranks,
                            std::int64_t step) {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::int32_t is = pattern(first + static_cast<std::int64_t>(i), step);
    float least = static_cast<float>(weight(0) * is + offset(0, step));
    float most = least;
    for (int rank = 1; rank < ranks; ++rank) {
      const auto value = static_cast<float>(weight(rank) * is + offset(rank, step));
      least = std::min(least, value);
      most = std::max(most, value);
    }
    wrong += !(elements[i] >= least && elements[i] <= most);
  }
  return wrong;
}

}  // namespace tw::trainer
