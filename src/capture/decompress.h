// SPDX-License-Identifier: Apache-2.0
// gzip and zstd around a capture, recognised by their first bytes and undone while reading.
//
// Several gzip members or zstd frames behind one another are one stream, as the tools of the same
// names have it. Damage ends the stream: everything decompressed before it is delivered first.

#pragma once

#include "trainwire/capture/byte_source.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace tw::capture {

enum class Compression { None, Gzip, Zstd };

/// "none", "gzip", "zstd".
std::string_view name_of(Compression compression);

/// Judged by the first four bytes; None for fewer.
Compression compression_of(std::span<const std::byte> first_bytes);

/// REQUIRES: compression is not None; nothing of `stored` has been forgotten.
std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> stored,
                                         Compression compression);

}  // namespace tw::capture
