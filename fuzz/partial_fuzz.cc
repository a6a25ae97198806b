// SPDX-License-Identifier: Apache-2.0
// Parts of analyses: any bytes are refused or merge without a fault; what merges can be written and
// read again, and merges to as many packets.
#include "trainwire/base/error.h"
#include "trainwire/gather/partial.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tw::gather;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto parts = decode_partial(sealed(bytes), "part");
    const auto again = decode_partial(encode_partial(parts), "part");
    if (again.size() != parts.size()) std::abort();
    if (parts.empty()) return 0;
    if (merge(parts).totals.packets != merge(again).totals.packets) std::abort();
  } catch (const tw::DataError&) {
  }
  return 0;
}
