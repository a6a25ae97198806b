// SPDX-License-Identifier: Apache-2.0
// Any 32 bytes may open a connection: only those with the token are a hello, and it says again what
// it said.

#include "trainwire/base/error.h"
#include "trainwire/transport/tcp/hello.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace tw;
using namespace tw::transport::tcp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  HelloBytes bytes = {};
  std::copy_n(reinterpret_cast<const std::byte*>(data), std::min(size, bytes.size()),
              bytes.begin());
  const Token token = {};
  const std::optional<Hello> hello = decode(bytes, token);
  const bool tokened =
      std::all_of(bytes.begin() + 16, bytes.end(), [](std::byte b) { return b == std::byte{}; });
  check(!hello || tokened, "nothing without the token is a hello");
  if (hello) check(decode(encode(*hello, token), token) == hello, "a hello says what it said");
  return 0;
}
