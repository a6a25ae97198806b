// SPDX-License-Identifier: Apache-2.0
// Capture files made and read in tests.

#pragma once

#include "trainwire/capture/ladder.h"
#include "trainwire/capture/reader.h"
#include "trainwire/capture/writer.h"
#include "trainwire/packet/byte_order.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::capture {

using FileBytes = std::vector<std::byte>;

/// A file put together by hand, number by number.
class HandMade {
 public:
  explicit HandMade(std::endian order) : order_(order) {}

  HandMade& u16(std::uint16_t value) { return put(value); }
  HandMade& u32(std::uint32_t value) { return put(value); }
  HandMade& u64(std::uint64_t value) { return put(value); }
  HandMade& bytes(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  HandMade& text(std::string_view more) { return bytes(std::as_bytes(std::span(more))); }
  /// A pcapng block of `type` around `body`, which must be a multiple of four bytes long.
  HandMade& block(std::uint32_t type, const FileBytes& body) {
    const auto length = static_cast<std::uint32_t>(12 + body.size());
    return u32(type).u32(length).bytes(body).u32(length);
  }
  HandMade& section_header() {
    return block(0x0a0d0d0a,
                 HandMade(order_).u32(0x1a2b3c4d).u16(1).u16(0).u64(~std::uint64_t{0}).done());
  }
  const FileBytes& done() const { return bytes_; }

 private:
  template <class T>
  HandMade& put(T value) {
    std::array<std::byte, sizeof value> stored{};
    packet::store(stored.data(), value, order_);
    return bytes(stored);
  }

  std::endian order_;
  FileBytes bytes_;
};

/// Everything a reader delivers.
struct Reading {
  std::vector<packet::Packet> packets = {};
  FileFacts facts = {};
  std::optional<Damage> damage = {};
  std::vector<std::string> sources = {};  ///< addresses of the packets, as text
};

/// In batches of three: files are small, and batches must end in their middle.
inline Reading read_all(Reader& reader) {
  Reading reading;
  std::array<packet::Packet, 3> batch;
  while (const std::size_t count = reader.read(batch)) {
    reading.packets.insert(reading.packets.end(), batch.begin(),
                           batch.begin() + static_cast<std::ptrdiff_t>(count));
  }
  reading.facts = reader.facts();
  reading.damage = reader.damage();
  for (const packet::Packet& packet : reading.packets) {
    reading.sources.push_back(reader.addresses()[packet.source].text());
  }
  return reading;
}

inline Reading read_all(std::span<const std::byte> file) {
  return read_all(*read_capture(file, "test"));
}

inline FileBytes joined(FileBytes first, const FileBytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline packet::Record record_of(const LadderFrame& frame, std::uint16_t interface = 0) {
  return {.bytes = frame.bytes,
          .original_bytes = frame.original_bytes,
          .time_ns = frame.time_ns,
          .interface = interface,
          .link = packet::Link::Ethernet};
}

/// The ladder in a file of the given kind; packets alternate between the interfaces.
inline FileBytes written(std::string_view text, const WriterOptions& options,
                         const LadderOptions& how = {}) {
  FileBytes bytes;
  Writer writer(memory_sink(bytes), options);
  std::size_t number = 0;
  for (const LadderFrame& frame : ladder(text, how)) {
    writer.write(
        record_of(frame, static_cast<std::uint16_t>(number++ % options.interfaces.size())));
  }
  writer.finish();
  return bytes;
}

/// A folder of its own that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "tw-capture-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name, std::span<const std::byte> content) const {
    const auto sink = file_sink(path_ / name);
    sink->write(content);
    sink->finish();
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tw::capture
