// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/piece_source.h"

#include <utility>

namespace tw::gather {

PieceSource::PieceSource(std::unique_ptr<capture::PiecedFile> file, capture::FileFacts facts,
                         Numbering& numbering, std::size_t helpers)
    : file_(std::move(file)),
      facts_(std::move(facts)),
      numbering_(numbering),
      readers_(helpers + 1) {
  begin();
}

void PieceSource::begin() {
  reader_.emplace(*file_);
  numbers_.assign(readers_, {.of = {0}, .differ = false});
  std::unique_lock lock(mutex_);
  first_ = claimed_ = taken_ = released_ = offset_ / file_->piece_bytes();
  past_end_ = false;
  for (Slot& slot : slots_) slot.number = -1;
  read_one(*reader_, 0, lock);
  first_addresses_ = reader_->addresses();
  for (std::size_t i = 1; i < readers_; ++i) {
    helpers_.emplace_back([this, i](const std::stop_token& stop) { help(i, stop); });
  }
}

/// A wrong guess numbers addresses that are none, so no reader is of use any more.
bool PieceSource::begin_anew(const capture::Piece& wrong) {
  const bool at_end = !wrong.begin.has_value() && wrong.ended;
  if (at_end || taken_ - first_ < kBetweenGuesses) return false;
  stop();
  begin();
  return true;
}

void PieceSource::help(std::size_t number, const std::stop_token& stop) {
  std::unique_lock lock(mutex_, std::defer_lock);
  try {
    // Made by the thread that uses it: its memory shares no cache line with another's.
    capture::PieceReader reader(*file_, capture::TakenBy::Another, first_addresses_);
    lock.lock();
    while (!stop.stop_requested() && !past_end_ && !failure_) {
      if (may_claim()) {
        read_one(reader, number, lock);
        continue;
      }
      changed_.wait(lock, stop, [this] { return claimed_ - released_ <= kSlots - kWake; });
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

void PieceSource::read_one(capture::PieceReader& reader, std::size_t reader_number,
                           std::unique_lock<std::mutex>& lock) {
  const std::int64_t number = claimed_++;
  Slot& slot = slots_[static_cast<std::size_t>(number % kSlots)];
  slot.reader = reader_number;
  lock.unlock();
  // Where the first one begins is known, and nobody else reads yet.
  reader.read(number, slot.piece,
              number == first_ ? std::optional<std::int64_t>(offset_) : std::nullopt);
  lock.lock();
  slot.number = number;
  past_end_ |= slot.piece.ended && slot.piece.count == 0;
  if (number == taken_) changed_.notify_all();
}

PieceSource::Slot& PieceSource::next_slot() {
  std::unique_lock lock(mutex_);
  released_ = taken_;
  if (claimed_ - released_ == kSlots - kWake) changed_.notify_all();
  Slot& slot = slots_[static_cast<std::size_t>(taken_ % kSlots)];
  while (slot.number != taken_) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (claimed_ == taken_ || (may_claim() && !past_end_)) {
      read_one(*reader_, 0, lock);
    } else {
      changed_.wait(lock, [&] { return slot.number == taken_ || failure_ != nullptr; });
    }
  }
  ++taken_;
  return slot;
}

const Batch* PieceSource::next() {
  if (!in_pieces_) return next_of_rest();
  Slot& slot = next_slot();
  capture::Piece& piece = slot.piece;
  if (piece.begin != offset_) {
    in_pieces_ = begin_anew(piece);
    return next();
  }
  offset_ = piece.end;
  in_pieces_ = !piece.ended;
  CommonNumbers& numbers = numbers_[slot.reader];
  const std::span<packet::Packet> packets(piece.packets.data(), piece.count);
  deliver(packets, numbering_.apply(packets, numbers, piece.addresses));
  if (slot.number == first_) numbers_.assign(numbers_.size(), CommonNumbers(numbers));
  return &batch_;
}

const Batch* PieceSource::next_of_rest() {
  if (rest_ == nullptr) {
    stop();
    rest_ = file_->rest(offset_);
    rest_room_.resize(kBatch);
  }
  const std::size_t count = rest_->read(rest_room_);
  damage_ = rest_->damage();
  if (count == 0) return nullptr;
  const auto packets = std::span(rest_room_).first(count);
  deliver(packets, numbering_.apply(packets, rest_numbers_, rest_->addresses()));
  batch_.position += rest_->position();
  return &batch_;
}

/// `packets` have common numbers: copies are known by them.
void PieceSource::deliver(std::span<packet::Packet> packets,
                          std::vector<packet::Address> addresses) {
  const std::size_t kept = duplicates_.drop(packets);
  batch_ = {.packets = packets.first(kept), .addresses = std::move(addresses), .position = offset_};
}

void PieceSource::stop() {
  for (std::jthread& helper : helpers_) helper.request_stop();
  helpers_.clear();
}

}  // namespace tw::gather
