// SPDX-License-Identifier: Apache-2.0
// The classic capture file: a 24-byte header, then records of a 16-byte header and the captured
// bytes, in the byte order of the machine that wrote it (draft-ietf-opsawg-pcap).
//
// Micro- and nanosecond magic, and the "modified" one of patched old libpcaps, whose record headers
// are 8 bytes longer.

#pragma once

#include "trainwire/capture/format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>

namespace tw::capture {

bool is_pcap(std::span<const std::byte> first_bytes);
/// REQUIRES: is_pcap() of what `source` begins with.
std::unique_ptr<Format> pcap_format(ByteSource& source);

inline constexpr std::size_t kPcapFileHeader = 24;
using PcapFileHeader = std::array<std::byte, kPcapFileHeader>;

/// The records that begin in [begin, end) of a file. `source` gives the file's bytes from `begin`.
struct PcapPart {
  PcapFileHeader header;  ///< the file's; REQUIRES: is_pcap() of it
  std::int64_t begin;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};
std::unique_ptr<Format> pcap_format(ByteSource& source, const PcapPart& part);

/// Where in `bytes`, taken from anywhere in a file, a record begins: the first place from which
/// headers that make sense follow each other. A guess, for nothing in the format marks a record.
std::optional<std::size_t> likely_record(std::span<const std::byte> bytes,
                                         const PcapFileHeader& header);

}  // namespace tw::capture
