// SPDX-License-Identifier: Apache-2.0
// Reads a capture file, whatever it is, in batches of decoded packets.
//
// pcap (micro- and nanoseconds, both byte orders) and pcapng (several sections and interfaces, own
// time resolution for each, drop statistics), plain or inside gzip or zstd, are recognised by
// content. Bytes stream through a window, so memory does not grow with the file. Damage ends the
// reading, not the program: everything before it is delivered, and `damage` says where and what.
//
// Threading: one reader, one thread; several readers share nothing.

#pragma once

#include "trainwire/capture/file_facts.h"
#include "trainwire/packet/address_table.h"
#include "trainwire/packet/packet.h"
#include "trainwire/packet/record.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tw::capture {

class ByteSource;
class Format;

class Reader {
 public:
  virtual ~Reader() = default;
  /// Decodes up to `into.size()` packets; returns how many; 0 at the end or at damage.
  virtual std::size_t read(std::span<packet::Packet> into) = 0;
  /// For filters and exports, which need the bytes: the next record, valid until the next call;
  /// false where read() would return 0. May be mixed with read().
  virtual bool next(packet::Record& record) = 0;
  /// What read() makes of `record`, with this reader's address numbers.
  virtual packet::Packet decoded(const packet::Record& record) = 0;
  /// Complete once read() returned 0.
  virtual const FileFacts& facts() const = 0;
  virtual const std::optional<Damage>& damage() const = 0;
  virtual const packet::AddressTable& addresses() const = 0;
  /// Bytes of the stored file consumed so far, for a progress bar.
  virtual std::int64_t position() const = 0;
};

/// "-" is standard input. Throws SystemError when the file cannot be opened, DataError when it is
/// no capture (the message names what it looks like, if known: text, empty, snoop...).
std::unique_ptr<Reader> open_capture(const std::string& path);
/// The format reads from the source; facts about compression and size are not known.
std::unique_ptr<Reader> reader_of(std::unique_ptr<ByteSource> source,
                                  std::unique_ptr<Format> format);
/// From memory, for tests and fuzzing; `bytes` must outlive the reader.
std::unique_ptr<Reader> read_capture(std::span<const std::byte> bytes, std::string_view name);

}  // namespace tw::capture
