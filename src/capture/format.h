// SPDX-License-Identifier: Apache-2.0
// A capture file format: turns bytes into records, knows its interfaces, notices damage.

#pragma once

#include "trainwire/capture/byte_source.h"
#include "trainwire/capture/file_facts.h"
#include "trainwire/packet/decode.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace tw::capture {

/// More captured bytes than any snap length or offload gives (Linux aggregates up to 512 KiB): a
/// record that claims more is damaged.
inline constexpr std::uint32_t kMostCapturedBytes = 1 << 20;
inline constexpr std::uint32_t kMostOriginalBytes = 1 << 24;

class Format {
 public:
  virtual ~Format() = default;
  /// The next record, valid until the next call; false at the end or at damage, and from then on.
  virtual bool next(packet::Record& record) = 0;
  /// next() and decode() until `into` is full or nothing is left: how many packets.
  virtual std::size_t read(std::span<packet::Packet> into, packet::AddressTable& addresses) = 0;

  FileFacts& facts() { return facts_; }
  const std::optional<Damage>& damage() const { return damage_; }
  /// Whether the data ended, damaged or not.
  bool ended() const { return ended_; }
  /// Behind the last record, in the uncompressed stream.
  std::int64_t offset() const { return cursor_.offset(); }

 protected:
  explicit Format(ByteSource& source, std::int64_t offset = 0) : cursor_(source, offset) {}

  /// Ends reading at the record that begins at `offset`. Always false, for `return stop(...)`.
  bool stop(std::int64_t offset, std::string text);
  /// Ends reading because `needed` bytes of `what`, which begins at the cursor, are not there. That
  /// is no damage when there is nothing at all. Always false.
  bool stop_at_end(std::string_view what, std::uint64_t needed);

  Cursor cursor_;
  FileFacts facts_;
  bool ended_ = false;

 private:
  std::optional<Damage> damage_;
};

/// The loop of Format::read, for a final class whose next() can be inlined.
template <class FinalFormat>
std::size_t read_with(FinalFormat& format, std::span<packet::Packet> into,
                      packet::AddressTable& addresses) {
  std::size_t count = 0;
  packet::Record record;
  while (count < into.size() && format.FinalFormat::next(record)) {
    packet::decode(record, addresses, into[count++]);
  }
  return count;
}

/// Nothing when the first bytes are not those of a capture we read. `source` must outlive the
/// format; nothing of it may have been forgotten.
std::unique_ptr<Format> recognised(ByteSource& source, std::span<const std::byte> first_bytes);

}  // namespace tw::capture
