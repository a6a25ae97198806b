// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/stream_source.h"

#include <algorithm>
#include <utility>

namespace tw::gather {

StreamSource::StreamSource(Opened file, Numbering& numbering, Filter* filter)
    : reader_(std::move(file.reader)),
      numbering_(numbering),
      filter_(filter),
      first_(std::move(file.first)) {
  for (Slot& slot : ring_) slot.room.resize(std::max(kBatch, first_.size()));
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

const Batch* StreamSource::next() {
  std::unique_lock lock(mutex_);
  released_ = taken_;
  if (produced_ - released_ == kBatches - kWake) changed_.notify_all();
  if (produced_ == taken_) {
    changed_.wait(lock, [this] { return produced_ - taken_ >= kWake || ended_; });
  }
  if (produced_ > taken_) return &ring_[taken_++ % kBatches].batch;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return nullptr;
}

void StreamSource::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void StreamSource::run(const std::stop_token& stop) {
  std::exception_ptr failure;
  try {
    produce(stop);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  ended_ = true;
  changed_.notify_all();
}

void StreamSource::produce(const std::stop_token& stop) {
  if (!first_.empty()) {
    Slot& slot = ring_[0];
    std::copy(first_.begin(), first_.end(), slot.room.begin());
    fill(slot, std::exchange(first_, {}).size());
    const std::lock_guard lock(mutex_);
    ++produced_;
  }
  for (std::uint64_t number = produced_;; ++number) {
    {
      std::unique_lock lock(mutex_);
      const bool full = number - released_ == kBatches;
      const auto has_room = [&] { return number - released_ <= kBatches - kWake; };
      if (stop.stop_requested() || (full && !changed_.wait(lock, stop, has_room))) return;
    }
    Slot& slot = ring_[number % kBatches];
    const std::size_t count = read_packets(*reader_, filter_, {slot.room.data(), kBatch});
    if (count == 0) return;
    fill(slot, count);
    const std::lock_guard lock(mutex_);
    ++produced_;
    if (produced_ - taken_ == kWake) changed_.notify_all();
  }
}

void StreamSource::fill(Slot& slot, std::size_t count) {
  const std::size_t kept = duplicates_.drop({slot.room.data(), count});
  const std::span<packet::Packet> packets(slot.room.data(), kept);
  slot.batch = {.packets = packets,
                .addresses = numbering_.apply(packets, numbers_, reader_->addresses()),
                .position = reader_->position()};
}

}  // namespace tw::gather
