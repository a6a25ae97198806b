// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/brackets.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tw::readers {

std::optional<std::size_t> closed_at_by_bytes(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_escaped = escaped;
    escaped = c == '\\' && !is_escaped;
    if (c == '"') {
      if (!is_escaped) in_string = !in_string;
    } else if (!in_string) {
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return i + 1;
    }
  }
  return {};
}

#if defined(__x86_64__)
namespace {

constexpr std::uint64_t kEven = 0x5555555555555555;

/// One bit for each of 64 bytes.
struct Marks {
  std::uint64_t backslash;
  std::uint64_t quote;
  std::uint64_t open;
  std::uint64_t close;
};

__attribute__((target("avx2"))) std::uint64_t equal(__m256i low, __m256i high, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  const auto a = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
  const auto b = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)));
  return a | (static_cast<std::uint64_t>(b) << 32);
}

__attribute__((target("avx2"))) Marks marks_of(const char* block) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
  // [ and { differ in one bit, as do ] and }; nothing else becomes one of them by it.
  const __m256i bit = _mm256_set1_epi8(0x20);
  const __m256i low_or = _mm256_or_si256(low, bit);
  const __m256i high_or = _mm256_or_si256(high, bit);
  return {.backslash = equal(low, high, '\\'),
          .quote = equal(low, high, '"'),
          .open = equal(low_or, high_or, '{'),
          .close = equal(low_or, high_or, '}')};
}

/// Characters behind an odd run of backslashes. `carry`: the block before ended in one. (Langdale and
/// Lemire 2019, 10.1007/s00778-019-00578-5.)
std::uint64_t escaped_by(std::uint64_t backslash, std::uint64_t& carry) {
  backslash &= ~carry;
  const std::uint64_t follows = (backslash << 1) | carry;
  const std::uint64_t odd_starts = backslash & ~kEven & ~follows;
  std::uint64_t even_sequences = 0;
  carry = __builtin_add_overflow(odd_starts, backslash, &even_sequences) ? 1 : 0;
  return (kEven ^ (even_sequences << 1)) & follows;
}

/// Each bit becomes the parity of those up to it: a multiplication without carries by all ones.
__attribute__((target("pclmul"))) std::uint64_t inside(std::uint64_t quotes) {
  const __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(quotes)),
                                               _mm_set1_epi8('\xff'), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

/// Walks blocks of one text.
class Walk {
 public:
  /// Where depth comes to nothing in this block, from 1; 0 where it does not.
  __attribute__((target("avx2,popcnt,pclmul"))) unsigned step(const char* block) {
    Marks marks = marks_of(block);
    if ((marks.backslash | escape_) != 0) marks.quote &= ~escaped_by(marks.backslash, escape_);
    const std::uint64_t in_string = inside(marks.quote) ^ string_;
    string_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_string) >> 63);
    const std::uint64_t open = marks.open & ~in_string;
    std::uint64_t close = marks.close & ~in_string;
    const std::int64_t closes = __builtin_popcountll(close);
    if (depth_ > closes) {
      depth_ += __builtin_popcountll(open) - closes;
      return 0;
    }
    std::int64_t closed = 0;
    for (; close != 0; close &= close - 1) {
      const std::uint64_t before = (close & -close) - 1;
      if (depth_ + __builtin_popcountll(open & before) - ++closed == 0) {
        return static_cast<unsigned>(__builtin_ctzll(close)) + 1;
      }
    }
    depth_ += __builtin_popcountll(open) - closes;
    return 0;
  }

 private:
  std::int64_t depth_ = 0;
  std::uint64_t string_ = 0;
  std::uint64_t escape_ = 0;
};

std::optional<std::size_t> closed_at_by_blocks(std::string_view text) {
  Walk walk;
  std::size_t at = 0;
  for (; at + 64 <= text.size(); at += 64) {
    if (const unsigned end = walk.step(text.data() + at)) return at + end;
  }
  char tail[64];
  std::memset(tail, ' ', sizeof tail);
  std::memcpy(tail, text.data() + at, text.size() - at);
  if (const unsigned end = walk.step(tail)) return at + end;
  return {};
}

}  // namespace

std::optional<std::size_t> closed_at(std::string_view text) {
  static const bool has_blocks = __builtin_cpu_supports("avx2") != 0 &&
                                 __builtin_cpu_supports("popcnt") != 0 &&
                                 __builtin_cpu_supports("pclmul") != 0;
  return has_blocks ? closed_at_by_blocks(text) : closed_at_by_bytes(text);
}
#else
std::optional<std::size_t> closed_at(std::string_view text) { return closed_at_by_bytes(text); }
#endif

}  // namespace tw::readers
