// SPDX-License-Identifier: Apache-2.0
// IDX files, in which MNIST and its relatives are given: a magic number, the sizes of each dimension,
// bytes. (http://yann.lecun.com/exdb/mnist/)
//
// Limits: elements of one byte; pictures of up to 4096 x 4096, and as many of them as the file holds.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tw::learn {

/// Grey pictures: `height * width` bytes each.
struct Pictures {
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels = {};
  std::int64_t count() const;
  bool operator==(const Pictures&) const = default;
};

/// Throws DataError that names the file, what is wrong and what was expected.
Pictures read_pictures(std::span<const std::byte> file, std::string_view name);
/// What each picture shows, by number.
std::vector<std::uint8_t> read_kinds(std::span<const std::byte> file, std::string_view name);

}  // namespace tw::learn
