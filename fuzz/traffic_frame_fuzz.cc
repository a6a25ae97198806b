// SPDX-License-Identifier: Apache-2.0
// Any 40 bytes may reach a sink: only those with the token are a frame, and it says again what it
// said.

#include "trainwire/base/error.h"
#include "trainwire/traffic/frame.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace tw;
using namespace tw::traffic;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FrameBytes bytes = {};
  std::copy_n(reinterpret_cast<const std::byte*>(data), std::min(size, bytes.size()),
              bytes.begin());
  const transport::tcp::Token token = {};
  const std::optional<Frame> frame = decode(bytes, token);
  const bool tokened =
      std::all_of(bytes.begin() + 24, bytes.end(), [](std::byte b) { return b == std::byte{}; });
  check(!frame || tokened, "nothing without the token is a frame");
  if (frame) check(decode(encode(*frame, token), token) == frame, "a frame says what it said");
  return 0;
}
