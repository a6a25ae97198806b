// SPDX-License-Identifier: Apache-2.0
// Any bytes are a pcapng capture up to some damage. Each input is tried twice, the second time with
// its block lengths repaired, so that the fuzzer reaches what is inside the blocks.

#include "trainwire/packet/byte_order.h"

#include "capture_properties.h"
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using namespace tw::capture;
using namespace tw::packet;

/// Walks the blocks as a little-endian reader would and makes both lengths of each fit.
std::vector<std::byte> repaired(std::span<const std::byte> file) {
  std::vector<std::byte> result(file.begin(), file.end());
  for (std::size_t at = 0; result.size() - at >= 12;) {
    const std::size_t stated = load<std::uint32_t>(&result[at + 4], std::endian::little);
    const std::size_t most = (result.size() - at) & ~std::size_t{3};
    const auto length =
        static_cast<std::uint32_t>(std::clamp<std::size_t>(stated & ~std::size_t{3}, 12, most));
    store(&result[at + 4], length, std::endian::little);
    store(&result[at + length - 4], length, std::endian::little);
    at += length;
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  check_reading(file);
  check_reading(repaired(file));
  return 0;
}
