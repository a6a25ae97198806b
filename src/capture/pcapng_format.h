// SPDX-License-Identifier: Apache-2.0
// The block-structured capture file (draft-ietf-opsawg-pcapng): sections with their own byte order,
// which hold interfaces with their own link type and clock, packets, and statistics of what was
// dropped.
//
// Enhanced, simple and obsolete packet blocks give records. A simple packet block has no time: it
// takes that of the packet before. Unknown blocks are skipped.

#pragma once

#include "trainwire/capture/format.h"

#include <cstddef>
#include <memory>
#include <span>

namespace tw::capture {

bool is_pcapng(std::span<const std::byte> first_bytes);
/// REQUIRES: is_pcapng() of what `source` begins with.
std::unique_ptr<Format> pcapng_format(ByteSource& source);

}  // namespace tw::capture
