// SPDX-License-Identifier: Apache-2.0
// The sliding buffer under every ByteSource that has to produce its bytes.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tw::capture {

/// Bytes [begin, end) of a buffer are the window; production appends behind it. The buffer grows
/// only when a single request is larger than it.
class Window {
 public:
  explicit Window(std::size_t capacity) : buffer_(capacity) {}

  std::span<const std::byte> bytes() const { return {buffer_.data() + begin_, end_ - begin_}; }
  std::size_t size() const { return end_ - begin_; }
  /// REQUIRES: used <= size().
  void forget(std::size_t used);
  void clear() { begin_ = end_ = 0; }
  /// Space for more, at least as much as `wanted` bytes in the window need; moves the window to the
  /// front of the buffer.
  std::span<std::byte> room_for(std::size_t wanted);
  /// The first `n` bytes of what room_for() returned are now part of the window.
  void append(std::size_t n) { end_ += n; }

 private:
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace tw::capture
