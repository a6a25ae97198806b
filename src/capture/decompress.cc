// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/decompress.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/window.h"
#include "trainwire/packet/byte_order.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tw::capture {
namespace {

constexpr std::size_t kWindowBytes = 128 * 1024;

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && packet::load_big<std::uint16_t>(bytes.data()) == 0x1f8b;
}

/// What one call of a decompressor did.
struct Step {
  enum class State {
    InMember,    ///< more of this member is to come
    AtBoundary,  ///< a member or frame is complete: a good place to end
    Broken,
  };
  std::size_t consumed;
  std::size_t produced;
  State state;
};

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  virtual Step step(std::span<const std::byte> in, std::span<std::byte> out) = 0;
  /// What is wrong, after a Broken step.
  virtual std::string reason() const = 0;
};

uInt clipped(std::size_t n) {
  return static_cast<uInt>(std::min<std::size_t>(n, std::numeric_limits<uInt>::max()));
}

class Gunzip final : public Decompressor {
 public:
  Gunzip() {
    constexpr int kGzipOnly = 16;
    check(::inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK, "zlib starts");
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip() override { ::inflateEnd(&stream_); }

  Step step(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (at_boundary_ && !begins_member(in)) return between_members(in);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = clipped(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = clipped(out.size());
    const uInt given = stream_.avail_in;
    const uInt room = stream_.avail_out;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    Step step{given - stream_.avail_in, room - stream_.avail_out, Step::State::InMember};
    at_boundary_ = result == Z_STREAM_END;
    if (at_boundary_) {
      ::inflateReset(&stream_);
      step.state = Step::State::AtBoundary;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      step.state = Step::State::Broken;
      reason_ = stream_.msg != nullptr ? stream_.msg : "zlib gave no reason";
    }
    return step;
  }
  std::string reason() const override { return reason_; }

 private:
  static bool begins_member(std::span<const std::byte> in) {
    return is_gzip(in) || (in.size() == 1 && in[0] == std::byte{0x1f});
  }
  /// Zeros are padding that tapes and block devices leave; anything else does not belong here.
  Step between_members(std::span<const std::byte> in) {
    const auto end =
        std::find_if(in.begin(), in.end(), [](std::byte b) { return b != std::byte{0}; });
    const auto zeros = static_cast<std::size_t>(end - in.begin());
    if (zeros > 0 || in.empty()) return {zeros, 0, Step::State::AtBoundary};
    reason_ = "what follows is not gzip";
    return {0, 0, Step::State::Broken};
  }

  z_stream stream_{};
  bool at_boundary_ = false;
  std::string reason_;
};

class Unzstd final : public Decompressor {
 public:
  Unzstd() : context_(ZSTD_createDCtx()) { check(context_ != nullptr, "zstd starts"); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;
  ~Unzstd() override { ZSTD_freeDCtx(context_); }

  Step step(std::span<const std::byte> in, std::span<std::byte> out) override {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t result = ZSTD_decompressStream(context_, &output, &input);
    Step step{input.pos, output.pos, Step::State::InMember};
    if (ZSTD_isError(result) != 0) {
      step.state = Step::State::Broken;
      reason_ = ZSTD_getErrorName(result);
    } else if (result == 0) {
      step.state = Step::State::AtBoundary;
    }
    return step;
  }
  std::string reason() const override { return reason_; }

 private:
  ZSTD_DCtx* context_;
  std::string reason_;
};

class DecompressedSource final : public ByteSource {
 public:
  DecompressedSource(std::unique_ptr<ByteSource> stored, Compression compression)
      : stored_(std::move(stored)), compression_(compression), window_(kWindowBytes) {
    if (compression == Compression::Gzip) decompressor_ = std::make_unique<Gunzip>();
    if (compression == Compression::Zstd) decompressor_ = std::make_unique<Unzstd>();
    check(decompressor_ != nullptr, "only compressed data are decompressed");
  }

  std::span<const std::byte> advance(std::size_t used, std::size_t wanted) override {
    window_.forget(used);
    while (window_.size() < wanted && !ended_) produce(wanted);
    return window_.bytes();
  }
  std::int64_t stored_position() const override { return position_; }
  const std::optional<std::string>& failure() const override { return failure_; }

 private:
  void produce(std::size_t wanted) {
    const auto input = stored_->advance(std::exchange(consumed_, 0), 1);
    const Step step = decompressor_->step(input, window_.room_for(wanted));
    window_.append(step.produced);
    consumed_ = step.consumed;
    position_ += static_cast<std::int64_t>(step.consumed);
    if (step.state == Step::State::Broken) return end(decompressor_->reason());
    if (step.consumed == 0 && step.produced == 0) end_of_input(input.empty());
    at_boundary_ = step.state == Step::State::AtBoundary;
  }
  void end_of_input(bool nothing_left) {
    check(nothing_left, "a decompressor with input and room moves on");
    if (stored_->failure().has_value()) return end(*stored_->failure());
    if (at_boundary_) {
      ended_ = true;
    } else {
      end("the data end early");
    }
  }
  void end(const std::string& reason) {
    ended_ = true;
    failure_ = fmt::format("{} at byte {} of the compressed file: {}", name_of(compression_),
                           position_, reason);
  }

  std::unique_ptr<ByteSource> stored_;
  Compression compression_;
  std::unique_ptr<Decompressor> decompressor_;
  Window window_;
  std::size_t consumed_ = 0;
  std::int64_t position_ = 0;
  bool at_boundary_ = false;
  bool ended_ = false;
  std::optional<std::string> failure_;
};

}  // namespace

std::string_view name_of(Compression compression) {
  switch (compression) {
    case Compression::Gzip:
      return "gzip";
    case Compression::Zstd:
      return "zstd";
    case Compression::None:
      break;
  }
  return "none";
}

Compression compression_of(std::span<const std::byte> first_bytes) {
  if (first_bytes.size() < 4) return Compression::None;
  if (is_gzip(first_bytes)) return Compression::Gzip;
  const auto magic = packet::load<std::uint32_t>(first_bytes.data(), std::endian::little);
  // A skippable frame (RFC 8878 section 3.1.2) may come first.
  const bool zstd = magic == 0xfd2fb528 || (magic & 0xfffffff0) == 0x184d2a50;
  return zstd ? Compression::Zstd : Compression::None;
}

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> stored,
                                         Compression compression) {
  return std::make_unique<DecompressedSource>(std::move(stored), compression);
}

}  // namespace tw::capture
