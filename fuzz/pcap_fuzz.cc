// SPDX-License-Identifier: Apache-2.0
// Any bytes, also inside gzip or zstd, are a capture up to some damage or a DataError.

#include "capture_properties.h"
#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tw::capture::check_reading(std::as_bytes(std::span(data, size)));
  return 0;
}
