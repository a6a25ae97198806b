// SPDX-License-Identifier: Apache-2.0
// Any bytes as an IDX file: pictures or kinds that are as many as the bytes say, or a DataError.
#include "trainwire/base/error.h"
#include "trainwire/learn/idx.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const tw::learn::Pictures pictures = tw::learn::read_pictures(bytes, "input");
    const auto pixels = pictures.count() * pictures.height * pictures.width;
    if (pixels != static_cast<std::int64_t>(size) - 16) std::abort();
  } catch (const tw::DataError&) {
  }
  try {
    if (tw::learn::read_kinds(bytes, "input").size() != size - 8) std::abort();
  } catch (const tw::DataError&) {
  }
  return 0;
}
