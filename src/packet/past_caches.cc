// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/past_caches.h"

#ifdef __SSE2__
#include <emmintrin.h>
#else
#include <algorithm>
#endif

#include <cstddef>

namespace tw::packet {

void copy_past_caches(std::span<const Packet> packets, Packet* to) {
#ifdef __SSE2__
  const auto* from = reinterpret_cast<const __m128i*>(packets.data());
  auto* into = reinterpret_cast<__m128i*>(to);
  const std::size_t words = packets.size_bytes() / sizeof(__m128i);
  for (std::size_t i = 0; i < words; ++i) _mm_stream_si128(into + i, _mm_load_si128(from + i));
  _mm_sfence();  // such stores are ordered by nothing else
#else
  std::copy(packets.begin(), packets.end(), to);
#endif
}

}  // namespace tw::packet
