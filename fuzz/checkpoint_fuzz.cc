// SPDX-License-Identifier: Apache-2.0
// Any bytes may lie where a checkpoint is looked for: they are one that says again what it said, or
// refused with a reason.

#include "trainwire/base/error.h"
#include "trainwire/checkpoint/checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string why = checkpoint::problem(bytes);
  try {
    const checkpoint::Checkpoint read = checkpoint::decode(bytes);
    check(why.empty(), "what has a problem is not read");
    check(checkpoint::encode(read) == bytes, "a checkpoint says what it said");
  } catch (const DataError&) {
    check(!why.empty(), "what has no problem is read");
  }
  return 0;
}
