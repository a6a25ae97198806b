// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/buffers.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tw::fabric {
namespace {

/// Number of the smallest class that holds `size`.
std::size_t class_of(std::size_t size) {
  const auto& classes = BufferPool::kClasses;
  const auto found = std::lower_bound(classes.begin(), classes.end(), size);
  check(found != classes.end(), "a buffer holds at most the largest frame");
  return static_cast<std::size_t>(found - classes.begin());
}

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      memory_(std::move(other.memory_)),
      size_(std::exchange(other.size_, 0)),
      asked_(other.asked_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(asked_, other.asked_);
  return *this;
}

Buffer::~Buffer() {
  if (memory_) {
    pool_->give_back(std::move(memory_), asked_);
  }
}

void Buffer::shrink(std::size_t size) {
  check(size <= asked_, "a buffer does not grow");
  size_ = size;
}

std::optional<Buffer> BufferPool::take(std::size_t size) {
  const std::size_t number = class_of(size);
  if (held_ + kClasses[number] > most_) return std::nullopt;
  held_ += kClasses[number];
  auto& free = free_[number];
  if (free.empty()) {
    return Buffer(*this, std::make_unique_for_overwrite<std::uint8_t[]>(kClasses[number]), size);
  }
  Buffer buffer(*this, std::move(free.back()), size);
  free.pop_back();
  return buffer;
}

std::optional<Buffer> BufferPool::copy(std::span<const std::uint8_t> bytes) {
  std::optional<Buffer> buffer = take(bytes.size());
  if (buffer && !bytes.empty()) std::memcpy(buffer->bytes().data(), bytes.data(), bytes.size());
  return buffer;
}

void BufferPool::give_back(std::unique_ptr<std::uint8_t[]> memory, std::size_t asked) {
  const std::size_t number = class_of(asked);
  held_ -= kClasses[number];
  free_[number].push_back(std::move(memory));
}

}  // namespace tw::fabric
