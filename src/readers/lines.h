// SPDX-License-Identifier: Apache-2.0
// Lines of a stream, and small files whole.

#pragma once

#include "trainwire/capture/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tw::readers {

inline constexpr std::size_t kLongestLine = std::size_t{16} << 20;

/// Lines end with \n, \r or both (progress bars); the last may end with the file. Longer ones than kLongestLine
/// are cut into parts, which are counted; NUL is left out.
class Lines {
 public:
  explicit Lines(capture::ByteSource& source) : source_(source) {}
  bool next();
  std::string_view line() const { return line_; }
  std::uint64_t too_long() const { return too_long_; }
  /// Bytes that were NUL.
  std::uint64_t holes() const { return holes_; }

 private:
  bool cut();

  capture::ByteSource& source_;
  std::string_view window_;
  std::size_t at_ = 0;
  std::string_view line_;
  std::uint64_t too_long_ = 0;
  std::uint64_t holes_ = 0;
  std::string kept_;  ///< the line, where NUL was in it
};

/// At most 256 MiB of it.
std::string whole_text(capture::ByteSource& source);

}  // namespace tw::readers
