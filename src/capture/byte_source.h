// SPDX-License-Identifier: Apache-2.0
// Bytes in order, seen through a window that slides forward: what the format readers read from,
// whether the bytes come from memory, a file, a pipe or a decompressor.
//
// Files are read, not mapped: copying through a window that stays in the second-level cache takes
// less time than the page faults of a mapping and its misses (measured: 0.29 against 0.34 s of
// processor time for 1.4 GB), memory stays bounded and counted as ours, and a file that shrinks
// while it is read just ends.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tw::capture {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Forgets the first `used` bytes of the window and returns the new one, of at least `wanted`
  /// bytes; it is shorter only when the data end with it. The old window is invalid afterwards.
  /// REQUIRES: used is at most the size of the window returned before (empty at first).
  virtual std::span<const std::byte> advance(std::size_t used, std::size_t wanted) = 0;
  /// Bytes taken from where they are stored (compressed ones count as such), for a progress bar.
  virtual std::int64_t stored_position() const = 0;
  /// Why the data ended before their time, if they did: "the gzip data end early".
  virtual const std::optional<std::string>& failure() const = 0;
};

/// `bytes` must outlive the source.
std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes);
/// Reads a file, pipe or socket from where it stands.
std::unique_ptr<ByteSource> descriptor_source(os::FileDescriptor fd);

/// A place in a ByteSource, for the format readers.
class Cursor {
 public:
  /// `offset` is that of the source's first byte in its file.
  explicit Cursor(ByteSource& source, std::int64_t offset = 0)
      : source_(source), begin_offset_(offset) {}

  /// Makes `n` bytes readable at at(); false when the data end before.
  bool need(std::size_t n) { return left() >= n || refill(n); }
  const std::byte* at() const { return at_; }
  /// Bytes readable at at() just now.
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  /// REQUIRES: n <= left().
  void skip(std::size_t n) { at_ += n; }
  /// Skips without keeping; false when the data end before.
  bool skip_far(std::uint64_t n);
  /// Of at(), in the file.
  std::int64_t offset() const { return begin_offset_ + (at_ - begin_); }
  const ByteSource& source() const { return source_; }

 private:
  bool refill(std::size_t n);

  ByteSource& source_;
  const std::byte* begin_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  std::int64_t begin_offset_;
};

}  // namespace tw::capture
