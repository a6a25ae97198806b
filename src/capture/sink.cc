// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/sink.h"

#include "trainwire/base/error.h"
#include "trainwire/os/file_descriptor.h"

#include <zstd.h>

#include <utility>

namespace tw::capture {
namespace {

class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  void write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void finish() override {}

 private:
  std::vector<std::byte>& bytes_;
};

class FileSink final : public ByteSink {
 public:
  explicit FileSink(const std::string& path) : fd_(os::open_to_write(path)), path_(path) {
    pending_.reserve(2 * kPiece);
  }
  void write(std::span<const std::byte> bytes) override {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    if (pending_.size() >= kPiece) flush();
  }
  void finish() override {
    flush();
    fd_.close(path_);
  }

 private:
  static constexpr std::size_t kPiece = 1 << 20;

  void flush() {
    os::write_all(fd_, pending_, path_);
    pending_.clear();
  }

  os::FileDescriptor fd_;
  std::string path_;
  std::vector<std::byte> pending_;
};

class ZstdSink final : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> compressed)
      : compressed_(std::move(compressed)),
        context_(ZSTD_createCCtx()),
        out_(ZSTD_CStreamOutSize()) {
    check(context_ != nullptr, "zstd starts");
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  ZstdSink(const ZstdSink&) = delete;
  ZstdSink& operator=(const ZstdSink&) = delete;
  ~ZstdSink() override { ZSTD_freeCCtx(context_); }

  void write(std::span<const std::byte> bytes) override { compress(bytes, ZSTD_e_continue); }
  void finish() override {
    compress({}, ZSTD_e_end);
    compressed_->finish();
  }

 private:
  void compress(std::span<const std::byte> bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::size_t more = 0;
    do {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      more = ZSTD_compressStream2(context_, &out, &in, directive);
      check(ZSTD_isError(more) == 0, "zstd compresses any bytes");
      compressed_->write(std::span(out_).first(out.pos));
    } while (in.pos < in.size || (directive == ZSTD_e_end && more != 0));
  }

  std::unique_ptr<ByteSink> compressed_;
  ZSTD_CCtx* context_;
  std::vector<std::byte> out_;
};

}  // namespace

std::unique_ptr<ByteSink> memory_sink(std::vector<std::byte>& bytes) {
  return std::make_unique<MemorySink>(bytes);
}

std::unique_ptr<ByteSink> file_sink(const std::string& path) {
  return std::make_unique<FileSink>(path);
}

std::unique_ptr<ByteSink> zstd_sink(std::unique_ptr<ByteSink> compressed) {
  return std::make_unique<ZstdSink>(std::move(compressed));
}

}  // namespace tw::capture
