// SPDX-License-Identifier: Apache-2.0
// Memory for the frames that the TAP switch holds: few sizes, each reused, all together bounded, so
// that a long delay at a high rate cannot take the machine's memory.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tw::fabric {

class BufferPool;

/// One frame's memory, of which the first size() bytes are used; move-only. It goes back to its
/// pool, which must outlive it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::span<std::uint8_t> bytes() { return {memory_.get(), size_}; }
  std::span<const std::uint8_t> bytes() const { return {memory_.get(), size_}; }
  std::size_t size() const { return size_; }
  /// REQUIRES: size <= what was asked of the pool.
  void shrink(std::size_t size);

 private:
  friend class BufferPool;
  Buffer(BufferPool& pool, std::unique_ptr<std::uint8_t[]> memory, std::size_t size)
      : pool_(&pool), memory_(std::move(memory)), size_(size), asked_(size) {}

  BufferPool* pool_ = nullptr;
  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t size_ = 0;
  std::size_t asked_ = 0;  ///< decides the class, to which it returns
};

class BufferPool {
 public:
  /// A usual Ethernet frame, a jumbo frame, and the largest super-packet, each with its header of
  /// offloads in front.
  static constexpr std::array<std::size_t, 3> kClasses = {2 * 1024, 10 * 1024, 66 * 1024};

  explicit BufferPool(std::size_t most_held_bytes) : most_(most_held_bytes) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// Uninitialised memory; nothing when the bound is reached. REQUIRES: size <= kClasses.back().
  std::optional<Buffer> take(std::size_t size);
  std::optional<Buffer> copy(std::span<const std::uint8_t> bytes);
  /// Bytes in the hands of users, whole classes counted.
  std::size_t held_bytes() const { return held_; }

 private:
  friend class Buffer;
  void give_back(std::unique_ptr<std::uint8_t[]> memory, std::size_t asked);

  std::size_t most_;
  std::size_t held_ = 0;
  std::array<std::vector<std::unique_ptr<std::uint8_t[]>>, kClasses.size()> free_;
};

}  // namespace tw::fabric
