// SPDX-License-Identifier: Apache-2.0
// A plain pcap file in pieces that are read apart from each other, by several threads at once.
//
// Piece n holds the records that begin in bytes [n, n + 1) * piece_bytes of the file. Where its
// first record begins is a guess (pcap_format.h), made without knowing the pieces before; whoever
// puts the pieces together compares it with where the piece before ended. A wrong guess costs time
// and never a packet, for rest() reads on from any place that is known to be right.
//
// Files are read by position and may grow or shrink meanwhile: they end where reading finds the
// end.

#pragma once

#include "trainwire/capture/byte_source.h"
#include "trainwire/capture/pcap_format.h"
#include "trainwire/capture/reader.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/packet/address_table.h"
#include "trainwire/packet/packet.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tw::capture {

/// Small enough that its bytes and packets stay in the second-level cache.
inline constexpr std::int64_t kPieceBytes = 256 * 1024;

/// Threading: constant; shared by the readers of its pieces.
class PiecedFile {
 public:
  /// Null when `path` is anything but a regular file of uncompressed pcap, "-" included. Throws
  /// SystemError when it cannot be opened.
  static std::unique_ptr<PiecedFile> open(const std::string& path,
                                          std::int64_t piece_bytes = kPieceBytes);

  const os::FileDescriptor& descriptor() const { return fd_; }
  const PcapFileHeader& header() const { return header_; }
  std::int64_t piece_bytes() const { return piece_bytes_; }
  /// Everything from the record that begins at `offset`, in order; addresses numbered anew. At most
  /// one at a time.
  std::unique_ptr<Reader> rest(std::int64_t offset) const;

 private:
  PiecedFile() = default;

  os::FileDescriptor fd_;
  PcapFileHeader header_ = {};
  std::int64_t piece_bytes_ = 0;
};

struct Piece {
  std::vector<packet::Packet> packets = {};  ///< room; the first `count` are meant
  std::size_t count = 0;
  /// New to the reader in this piece, in the order of their numbers.
  std::vector<packet::Address> addresses = {};
  std::optional<std::int64_t> begin = {};  ///< of its first record; nothing when none was found
  std::int64_t end = 0;                    ///< behind its last record
  bool ended = false;                      ///< the file ends at `end`, or cannot be read on there
};

/// Who works on the packets of a piece next: another thread's are written past the caches.
enum class TakenBy { Reader, Another };

/// One thread's. `file` must outlive it.
class PieceReader {
 public:
  /// `known` are addresses that have their numbers already.
  explicit PieceReader(const PiecedFile& file, TakenBy taken_by = TakenBy::Reader,
                       packet::AddressTable known = {});
  ~PieceReader();

  /// `begin`: where the first record begins, when that is known; it lies in piece `number`.
  void read(std::int64_t number, Piece& piece, std::optional<std::int64_t> begin = {});
  const packet::AddressTable& addresses() const { return addresses_; }

 private:
  class PartSource;
  void decode_all(Format& format, Piece& piece);
  /// Decodes some more behind those that the piece has: how many.
  std::size_t decode_some(Format& format, Piece& piece);

  const PiecedFile& file_;
  std::unique_ptr<PartSource> source_;
  packet::AddressTable addresses_;
  std::vector<packet::Packet>
      passing_;  ///< room for packets that go on to another core; else empty
};

}  // namespace tw::capture
