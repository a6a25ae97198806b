// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/source.h"

#include <algorithm>
#include <utility>

namespace tw::flow {

std::size_t read_packets(capture::Reader& reader, Filter* filter, std::span<capture::Packet> into) {
  if (filter == nullptr) return reader.read(into);
  std::size_t count = 0;
  capture::Record record;
  while (count < into.size() && reader.next(record)) {
    const std::uint32_t link_type = reader.facts().interfaces[record.interface].link_type;
    if (filter->matches(record, link_type)) into[count++] = reader.decoded(record);
  }
  return count;
}

Source::Source(std::unique_ptr<capture::Reader> reader, Numbering& numbering, Filter* filter,
               std::vector<capture::Packet> first)
    : reader_(std::move(reader)), numbering_(numbering), filter_(filter), first_(std::move(first)) {
  numbering_.begin_file();
  for (Batch& batch : ring_) batch.packets.resize(std::max(kBatch, first_.size()));
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

const Batch* Source::next() {
  std::unique_lock lock(mutex_);
  released_ = taken_;
  if (produced_ - released_ == kBatches - kWake) changed_.notify_all();
  if (produced_ == taken_) {
    changed_.wait(lock, [this] { return produced_ - taken_ >= kWake || ended_; });
  }
  if (produced_ > taken_) return &ring_[taken_++ % kBatches];
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return nullptr;
}

void Source::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Source::run(const std::stop_token& stop) {
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

void Source::produce(const std::stop_token& stop) {
  if (!first_.empty()) {
    Batch& batch = ring_[0];
    std::copy(first_.begin(), first_.end(), batch.packets.begin());
    fill(batch, std::exchange(first_, {}).size());
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
    Batch& batch = ring_[number % kBatches];
    const std::size_t count = read_packets(*reader_, filter_, {batch.packets.data(), kBatch});
    if (count == 0) return;
    fill(batch, count);
    const std::lock_guard lock(mutex_);
    ++produced_;
    if (produced_ - taken_ == kWake) changed_.notify_all();
  }
}

void Source::fill(Batch& batch, std::size_t count) {
  batch.count = duplicates_.drop({batch.packets.data(), count});
  batch.addresses = numbering_.apply({batch.packets.data(), batch.count}, reader_->addresses());
  batch.position = reader_->position();
}

}  // namespace tw::flow
