// SPDX-License-Identifier: Apache-2.0
// Any bytes as what torchfrtrace prints: it tells something that can be meant, or why not.

#include "reader_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::read_as(tw::readers::Kind::FlightReport, data, size);
  return 0;
}
