// SPDX-License-Identifier: Apache-2.0
// What holds for the reading of any bytes as a capture, for the fuzz targets of the file formats.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/capture/reader.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace tw::capture {

using namespace packet;

/// Reads `file` in batches and again record by record: both give the same packets and end at the
/// same place. Throws std::logic_error, which the fuzzer reports, when they do not.
inline void check_reading(std::span<const std::byte> file) {
  std::unique_ptr<Reader> batches;
  std::unique_ptr<Reader> singles;
  try {
    batches = read_capture(file, "fuzz");
    singles = read_capture(file, "fuzz");
  } catch (const DataError&) {
    return;  // no capture at all
  }
  std::array<Packet, 7> batch;
  Record record;
  while (const std::size_t count = batches->read(batch)) {
    for (std::size_t i = 0; i < count; ++i) {
      check(singles->next(record), "records are as many as packets");
      const Packet packet = singles->decoded(record);
      check(packet.time_ns == batch[i].time_ns && packet.wire_bytes == batch[i].wire_bytes &&
                packet.payload_bytes == batch[i].payload_bytes &&
                packet.verdict == batch[i].verdict,
            "a record decodes to the packet");
      check(batch[i].interface < batches->facts().interfaces.size(), "the interface is described");
      check(batch[i].source < batches->addresses().size(), "the address has a number");
    }
  }
  check(!singles->next(record), "packets are as many as records");
  check(batches->read(batch) == 0, "the end is the end");
  check(batches->damage().has_value() == singles->damage().has_value(), "damage is found by both");
}

}  // namespace tw::capture
