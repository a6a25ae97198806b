// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tw {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_SANITIZED
#endif
#endif

/// The sanitizers look on, and make everything ten times as long: tests that go through many cases
/// then go through fewer. `./check all` goes through all of them.
#ifdef TW_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

template <typename Number>
constexpr Number all_or_quarter(Number all) {
  return kSanitized ? all / 4 : all;
}

}  // namespace tw
