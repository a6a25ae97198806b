// SPDX-License-Identifier: Apache-2.0
// Numbers out of and into unaligned bytes of a stated order.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tw::packet {

constexpr std::uint8_t byte_swapped(std::uint8_t x) { return x; }
constexpr std::uint16_t byte_swapped(std::uint16_t x) { return __builtin_bswap16(x); }
constexpr std::uint32_t byte_swapped(std::uint32_t x) { return __builtin_bswap32(x); }
constexpr std::uint64_t byte_swapped(std::uint64_t x) { return __builtin_bswap64(x); }

/// In this machine's own order. REQUIRES: sizeof(T) bytes at `at`.
template <class T>
T load_native(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// `order` is the order of the stored bytes. Either call compiles to one load and at most one swap.
template <class T>
T load(const std::byte* at, std::endian order) {
  const T value = load_native<T>(at);
  return order == std::endian::native ? value : byte_swapped(value);
}

/// Network order.
template <class T>
T load_big(const std::byte* at) {
  return load<T>(at, std::endian::big);
}

template <class T>
void store(std::byte* at, T value, std::endian order) {
  if (order != std::endian::native) value = byte_swapped(value);
  std::memcpy(at, &value, sizeof value);
}

}  // namespace tw::packet
