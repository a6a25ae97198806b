// SPDX-License-Identifier: Apache-2.0
// Any bytes as a workload, network or system of another simulator: flags with values, or a DataError.

#include "trainwire/base/error.h"
#include "trainwire/foreign/design.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tw::foreign::Design design;
  try {
    tw::foreign::add_design({reinterpret_cast<const char*>(data), size}, "x", design);
    tw::foreign::settle(design);
  } catch (const tw::DataError&) {
    return 0;
  }
  for (const auto& [flag, value] : design.flags.values)
    tw::check(flag.starts_with("--") && !value.empty(), "a flag has a value");
  return 0;
}
