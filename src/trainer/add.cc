// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/add.h"

#include <cstring>

// g++ vectorises these loops at -O3 only, and for the widest registers only when told that they may
// be there.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TW_WIDE __attribute__((optimize("O3"), target_clones("avx512f", "avx2", "default")))
#else
#define TW_WIDE
#endif

namespace tw::trainer {

TW_WIDE void add(float* into, const std::byte* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, from + sizeof(float) * i, sizeof value);
    into[i] += value;
  }
}

TW_WIDE void average(float* into, const std::byte* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, from + sizeof(float) * i, sizeof value);
    into[i] = 0.5f * (into[i] + value);
  }
}

}  // namespace tw::trainer
