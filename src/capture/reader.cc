// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/reader.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/byte_source.h"
#include "trainwire/capture/decompress.h"
#include "trainwire/capture/format.h"
#include "trainwire/capture/stranger.h"
#include "trainwire/os/file_descriptor.h"

#include <fmt/format.h>

#include <utility>

namespace tw::capture {
namespace {

/// Enough to tell text from binary, and to know every magic number.
constexpr std::size_t kFirstBytes = 512;

class CaptureReader final : public Reader {
 public:
  CaptureReader(std::unique_ptr<ByteSource> source, std::unique_ptr<Format> format)
      : source_(std::move(source)), format_(std::move(format)) {}

  std::size_t read(std::span<packet::Packet> into) override {
    return format_->read(into, addresses_);
  }
  bool next(packet::Record& record) override { return format_->next(record); }
  packet::Packet decoded(const packet::Record& record) override {
    packet::Packet packet;
    packet::decode(record, addresses_, packet);
    return packet;
  }
  const FileFacts& facts() const override { return format_->facts(); }
  const std::optional<Damage>& damage() const override { return format_->damage(); }
  const packet::AddressTable& addresses() const override { return addresses_; }
  std::int64_t position() const override { return source_->stored_position(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<Format> format_;
  packet::AddressTable addresses_;
};

/// REQUIRES: nothing of `source` has been forgotten. A pipe is asked for no more than four bytes at
/// first: the header of a live capture may be all there is for long.
std::span<const std::byte> first_bytes_of(ByteSource& source) { return source.advance(0, 4); }

[[noreturn]] void refuse(ByteSource& source, std::string_view name, Compression compression) {
  const auto first_bytes = source.advance(0, kFirstBytes);
  if (source.failure().has_value() && first_bytes.empty()) {
    throw DataError(fmt::format("reading {}: {}", name, *source.failure()));
  }
  const std::string_view inside = compression == Compression::None ? "" : name_of(compression);
  throw DataError(fmt::format("reading {}: {}{}{}", name, inside, inside.empty() ? "" : " around: ",
                              stranger_description(first_bytes)));
}

std::unique_ptr<Reader> recognised_reader(std::unique_ptr<ByteSource> source, std::string_view name,
                                          std::int64_t file_bytes) {
  const Compression compression = compression_of(first_bytes_of(*source));
  if (compression != Compression::None) source = decompressed(std::move(source), compression);
  auto format = recognised(*source, first_bytes_of(*source));
  if (format == nullptr) refuse(*source, name, compression);
  format->facts().compression = name_of(compression);
  format->facts().file_bytes = file_bytes;
  return std::make_unique<CaptureReader>(std::move(source), std::move(format));
}

}  // namespace

std::unique_ptr<Reader> open_capture(const std::string& path) {
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "standard input" : path;
  os::FileDescriptor fd = is_stdin ? os::duplicate_stdin() : os::open_to_read(path);
  const os::FileKind kind = os::file_kind(fd);
  if (kind == os::FileKind::Directory) {
    throw SystemError(fmt::format(
        "reading {}: it is a folder; name the capture files in it, as in {}/*.pcap", name, path));
  }
  const std::int64_t bytes = kind == os::FileKind::Regular ? os::file_bytes(fd) : 0;
  return recognised_reader(descriptor_source(std::move(fd)), name, bytes);
}

std::unique_ptr<Reader> reader_of(std::unique_ptr<ByteSource> source,
                                  std::unique_ptr<Format> format) {
  return std::make_unique<CaptureReader>(std::move(source), std::move(format));
}

std::unique_ptr<Reader> read_capture(std::span<const std::byte> bytes, std::string_view name) {
  return recognised_reader(memory_source(bytes), name, static_cast<std::int64_t>(bytes.size()));
}

}  // namespace tw::capture
