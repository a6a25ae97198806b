// SPDX-License-Identifier: Apache-2.0
// The classic capture file: a 24-byte header, then records of a 16-byte header and the captured
// bytes, in the byte order of the machine that wrote it (draft-ietf-opsawg-pcap).
//
// Micro- and nanosecond magic, and the "modified" one of patched old libpcaps, whose record headers
// are 8 bytes longer.

#pragma once

#include "trainwire/capture/format.h"

#include <cstddef>
#include <memory>
#include <span>

namespace tw::capture {

bool is_pcap(std::span<const std::byte> first_bytes);
/// REQUIRES: is_pcap() of what `source` begins with.
std::unique_ptr<Format> pcap_format(ByteSource& source);

}  // namespace tw::capture
