// SPDX-License-Identifier: Apache-2.0
// One capture file, read and decoded ahead of whoever takes its packets, batch by batch in their
// order: two cores or more work on one file.
//
// Large plain pcap files are read in pieces by several threads (piece_source.h), everything else by
// one thread (stream_source.h).

#pragma once

#include "trainwire/capture/file_facts.h"
#include "trainwire/capture/reader.h"
#include "trainwire/gather/filter.h"
#include "trainwire/gather/numbering.h"
#include "trainwire/packet/address.h"
#include "trainwire/packet/packet.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::gather {

struct Batch {
  std::span<const packet::Packet> packets = {};
  std::vector<packet::Address> addresses = {};  ///< new ones, in the order of their numbers
  std::int64_t position = 0;                    ///< bytes of the file read so far
};

class Source {
 public:
  virtual ~Source() = default;
  /// The next batch, valid until the next call; null at the end. Rethrows what the reading threw.
  virtual const Batch* next() = 0;
  /// Ends the reading early; next() must not be called any more.
  virtual void stop() = 0;
  // Only after stop(), or once next() returned null:
  virtual const capture::FileFacts& facts() const = 0;
  virtual const std::optional<capture::Damage>& damage() const = 0;
  /// Second records of one packet that were left out.
  virtual std::uint64_t duplicates() const = 0;
};

/// How many packets are decoded together.
inline constexpr std::size_t kBatch = 1024;

/// A file that was opened and perhaps begun.
struct Opened {
  std::string path;
  std::unique_ptr<capture::Reader> reader;
  std::vector<packet::Packet> first = {};  ///< what was read from `reader` before
};

struct SourceOptions {
  Filter* filter = nullptr;    ///< null: everything passes
  std::size_t processors = 2;  ///< that are there for this file
};
/// `numbering` and the filter are the source's until it is destroyed; they must outlive it.
std::unique_ptr<Source> open_source(Opened file, Numbering& numbering,
                                    const SourceOptions& options);

/// As Reader::read, but only what passes `filter` (null: everything). May throw what the filter
/// throws.
std::size_t read_packets(capture::Reader& reader, Filter* filter, std::span<packet::Packet> into);

}  // namespace tw::gather
