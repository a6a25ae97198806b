// SPDX-License-Identifier: Apache-2.0
// Any bytes as a training's state: one whose bytes give it again, or a DataError.
#include "trainwire/base/error.h"
#include "trainwire/learn/state.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const tw::learn::State state = tw::learn::state_from(std::as_bytes(std::span(data, size)));
    const std::vector<std::byte> bytes = tw::learn::to_bytes(state);
    if (tw::learn::to_bytes(tw::learn::state_from(bytes)) != bytes) std::abort();
  } catch (const tw::DataError&) {
  }
  return 0;
}
