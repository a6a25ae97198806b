// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/idx.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::learn {
namespace {

constexpr std::uint32_t kByteElements = 0x0800;
constexpr std::uint32_t kLargestSide = 4096;

std::uint32_t word(std::span<const std::byte> file, std::size_t number) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | std::to_integer<std::uint32_t>(file[4 * number + i]);
  }
  return value;
}

struct Idx {
  std::vector<std::uint32_t> sizes;
  std::span<const std::byte> elements;
};

/// REQUIRES: dimensions >= 1.
Idx read_idx(std::span<const std::byte> file, std::size_t dimensions, std::string_view name) {
  const std::size_t header = 4 * (1 + dimensions);
  if (file.size() < header) {
    throw DataError(
        fmt::format("{}: {} bytes are no IDX file with {} dimensions, which begins with "
                    "{} bytes; fetch it again",
                    name, file.size(), dimensions, header));
  }
  const std::uint32_t magic = word(file, 0);
  if (magic != (kByteElements | dimensions)) {
    throw DataError(
        fmt::format("{}: begins with {:08x}, not with {:08x}: no IDX file of bytes with "
                    "{} dimensions",
                    name, magic, kByteElements | dimensions, dimensions));
  }
  Idx idx{.sizes = {}, .elements = file.subspan(header)};
  for (std::size_t i = 1; i <= dimensions; ++i) idx.sizes.push_back(word(file, i));
  return idx;
}

void require_size(std::uint64_t wanted, std::span<const std::byte> elements,
                  std::string_view name) {
  if (wanted == elements.size()) return;
  throw DataError(fmt::format("{}: says that it has {} bytes of samples and has {}; fetch it again",
                              name, wanted, elements.size()));
}

std::vector<std::uint8_t> bytes_of(std::span<const std::byte> elements) {
  std::vector<std::uint8_t> bytes(elements.size());
  std::ranges::transform(elements, bytes.begin(),
                         [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return bytes;
}

}  // namespace

std::int64_t Pictures::count() const {
  const std::int64_t pixels_each = std::int64_t{height} * width;
  return pixels_each == 0 ? 0 : std::ssize(pixels) / pixels_each;
}

Pictures read_pictures(std::span<const std::byte> file, std::string_view name) {
  const Idx idx = read_idx(file, 3, name);
  const std::uint32_t height = idx.sizes[1];
  const std::uint32_t width = idx.sizes[2];
  if (std::min(height, width) < 1 || std::max(height, width) > kLargestSide) {
    throw DataError(fmt::format("{}: pictures of {} x {}; from 1 x 1 to {} x {} are read", name,
                                height, width, kLargestSide, kLargestSide));
  }
  require_size(std::uint64_t{idx.sizes[0]} * height * width, idx.elements, name);
  return {.height = static_cast<int>(height),
          .width = static_cast<int>(width),
          .pixels = bytes_of(idx.elements)};
}

std::vector<std::uint8_t> read_kinds(std::span<const std::byte> file, std::string_view name) {
  const Idx idx = read_idx(file, 1, name);
  require_size(idx.sizes[0], idx.elements, name);
  return bytes_of(idx.elements);
}

}  // namespace tw::learn
