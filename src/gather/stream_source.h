// SPDX-License-Identifier: Apache-2.0
// A capture of any kind, a pipe too, read by a thread of its own.
//
// Memory: 64 batches of 64 KiB that are used again and again. So many, because on a busy machine
// either thread may be without a processor for milliseconds.

#pragma once

#include "trainwire/gather/duplicates.h"
#include "trainwire/gather/source.h"

#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace tw::gather {

class StreamSource final : public Source {
 public:
  StreamSource(Opened file, Numbering& numbering, Filter* filter);

  const Batch* next() override;
  void stop() override;
  const capture::FileFacts& facts() const override { return reader_->facts(); }
  const std::optional<capture::Damage>& damage() const override { return reader_->damage(); }
  std::uint64_t duplicates() const override { return duplicates_.dropped(); }

 private:
  static constexpr std::size_t kBatches = 64;
  /// A thread that ran out of batches sleeps until so many are there: waking up costs as much as
  /// hundreds of packets.
  static constexpr std::size_t kWake = 16;
  struct Slot {
    std::vector<packet::Packet> room;
    Batch batch;
  };

  void run(const std::stop_token& stop);
  void produce(const std::stop_token& stop);
  void fill(Slot& slot, std::size_t count);

  std::unique_ptr<capture::Reader> reader_;
  Numbering& numbering_;
  CommonNumbers numbers_;
  Filter* filter_;
  std::vector<packet::Packet> first_;
  Duplicates duplicates_;
  std::array<Slot, kBatches> ring_;

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

}  // namespace tw::gather
