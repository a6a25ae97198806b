// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/byte_source.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace tw::capture {
namespace {

/// Half of a common second-level cache: the kernel's copy is still there when it is decoded.
constexpr std::size_t kWindowBytes = 512 * 1024;

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> advance(std::size_t used, std::size_t) override {
    check(used <= rest_.size(), "only bytes of the window can be forgotten");
    position_ += static_cast<std::int64_t>(used);
    return rest_ = rest_.subspan(used);
  }
  std::int64_t stored_position() const override { return position_; }
  const std::optional<std::string>& failure() const override { return failure_; }

 private:
  std::span<const std::byte> rest_;
  std::int64_t position_ = 0;
  std::optional<std::string> failure_;
};

class DescriptorSource final : public ByteSource {
 public:
  explicit DescriptorSource(os::FileDescriptor fd) : fd_(std::move(fd)), window_(kWindowBytes) {}

  std::span<const std::byte> advance(std::size_t used, std::size_t wanted) override {
    window_.forget(used);
    // A pipe gives what it has: no more than necessary is waited for.
    while (window_.size() < wanted && !ended_) read_more(wanted);
    return window_.bytes();
  }
  std::int64_t stored_position() const override { return position_; }
  const std::optional<std::string>& failure() const override { return failure_; }

 private:
  void read_more(std::size_t wanted) {
    const auto count = os::read_some(fd_, window_.room_for(wanted));
    if (count <= 0) {
      ended_ = true;
      if (count < 0) failure_ = "reading failed: " + std::generic_category().message(errno);
      return;
    }
    window_.append(static_cast<std::size_t>(count));
    position_ += count;
  }

  os::FileDescriptor fd_;
  Window window_;
  std::int64_t position_ = 0;
  bool ended_ = false;
  std::optional<std::string> failure_;
};

}  // namespace

std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

std::unique_ptr<ByteSource> descriptor_source(os::FileDescriptor fd) {
  return std::make_unique<DescriptorSource>(std::move(fd));
}

bool Cursor::refill(std::size_t n) {
  const auto used = static_cast<std::size_t>(at_ - begin_);
  begin_offset_ += at_ - begin_;
  const auto window = source_.advance(used, n);
  begin_ = at_ = window.data();
  end_ = begin_ + window.size();
  return left() >= n;
}

bool Cursor::skip_far(std::uint64_t n) {
  while (n > left()) {
    n -= left();
    skip(left());
    if (!need(1)) return false;
  }
  skip(static_cast<std::size_t>(n));
  return true;
}

}  // namespace tw::capture
