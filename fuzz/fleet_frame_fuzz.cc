// SPDX-License-Identifier: Apache-2.0
// Frames between a run and its hosts: any bytes give frames or are refused, and frames are written
// as they were read.
#include "trainwire/base/error.h"
#include "trainwire/fleet/frames.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tw::fleet;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  FrameReader reader(kMostHello);
  reader.take(bytes);
  std::string written;
  try {
    while (const auto frame = reader.next()) written += encode(*frame);
  } catch (const tw::DataError&) {
  }
  if (!bytes.starts_with(written)) std::abort();
  return 0;
}
