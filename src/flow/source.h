// SPDX-License-Identifier: Apache-2.0
// One capture file, read and decoded by a thread of its own, batch by batch, ahead of whoever takes
// the batches: two cores work on one file.
//
// Memory: 64 batches of 64 KiB that are used again and again. So many, because on a busy machine
// either thread may be without a processor for milliseconds.

#pragma once

#include "trainwire/capture/reader.h"
#include "trainwire/flow/duplicates.h"
#include "trainwire/flow/filter.h"
#include "trainwire/flow/numbering.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace tw::flow {

struct Batch {
  std::vector<capture::Packet> packets = {};  ///< room; the first `count` are meant
  std::size_t count = 0;
  std::vector<capture::Address> addresses = {};  ///< new ones, in the order of their numbers
  std::int64_t position = 0;                     ///< bytes of the file read so far
  std::span<const capture::Packet> span() const { return {packets.data(), count}; }
};

/// As Reader::read, but only what passes `filter` (null: everything). May throw what the filter
/// throws.
std::size_t read_packets(capture::Reader& reader, Filter* filter, std::span<capture::Packet> into);

class Source {
 public:
  static constexpr std::size_t kBatch = 1024;

  /// `numbering` and `filter` (may be null) are used by the source's thread only, until the source
  /// is destroyed; they must outlive it. `first` holds packets that were read from `reader` before.
  Source(std::unique_ptr<capture::Reader> reader, Numbering& numbering, Filter* filter,
         std::vector<capture::Packet> first = {});

  /// The next batch, valid until the next call; null at the end. Rethrows what the reading threw.
  const Batch* next();
  /// Ends the reading early; next() must not be called any more.
  void stop();
  /// Only after stop(), or once next() returned null.
  const capture::Reader& reader() const { return *reader_; }
  std::uint64_t duplicates() const { return duplicates_.dropped(); }

 private:
  static constexpr std::size_t kBatches = 64;
  /// A thread that ran out of batches sleeps until so many are there: waking up costs as much as
  /// hundreds of packets.
  static constexpr std::size_t kWake = 16;

  void run(const std::stop_token& stop);
  void produce(const std::stop_token& stop);
  void fill(Batch& batch, std::size_t count);

  std::unique_ptr<capture::Reader> reader_;
  Numbering& numbering_;
  Filter* filter_;
  std::vector<capture::Packet> first_;
  Duplicates duplicates_;
  std::array<Batch, kBatches> ring_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Batches are counted from the beginning of the file; number n lies in ring_[n % kBatches].
  std::uint64_t produced_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t taken_ = 0;  ///< by next(), the consumer's own count
  bool ended_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  ///< last: it uses the others
};

}  // namespace tw::flow
