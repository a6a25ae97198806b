// SPDX-License-Identifier: Apache-2.0
// Where written bytes go: memory, a file, a compressor in front of either.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tw::capture {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Throws SystemError when the bytes cannot be stored.
  virtual void write(std::span<const std::byte> bytes) = 0;
  /// Everything written is stored afterwards; the last call. Throws SystemError. A sink that is
  /// destroyed without it may lose its last bytes.
  virtual void finish() = 0;
};

/// Appends to `bytes`, which must outlive the sink.
std::unique_ptr<ByteSink> memory_sink(std::vector<std::byte>& bytes);
/// Creates or empties the file; writes it in large pieces. Throws SystemError.
std::unique_ptr<ByteSink> file_sink(const std::string& path);
/// One zstd frame, with a checksum.
std::unique_ptr<ByteSink> zstd_sink(std::unique_ptr<ByteSink> compressed);

}  // namespace tw::capture
