// SPDX-License-Identifier: Apache-2.0
// A large plain pcap file, read in pieces by several threads, given in order.
//
// Helpers, if any, read pieces ahead. The thread that takes the packets reads one itself whenever the next
// is not there yet, so that no processor is idle however the work is split between reading and what
// is done with the packets. Where a piece does not begin where the one before ended, its beginning
// was guessed wrong: all begins anew from the place that is known. The end of the file, and guesses
// that are wrong often, lead to reading on in order by the taking thread alone: damage is found as
// by any other reader.
//
// Memory: 16 pieces of 256 KiB as packets, about as large (16 MB when every packet is empty).

#pragma once

#include "trainwire/capture/pieces.h"
#include "trainwire/gather/duplicates.h"
#include "trainwire/gather/source.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

namespace tw::gather {

class PieceSource final : public Source {
 public:
  /// `facts` are those of the file.
  PieceSource(std::unique_ptr<capture::PiecedFile> file, capture::FileFacts facts,
              Numbering& numbering, std::size_t helpers);

  const Batch* next() override;
  void stop() override;
  const capture::FileFacts& facts() const override { return facts_; }
  const std::optional<capture::Damage>& damage() const override { return damage_; }
  std::uint64_t duplicates() const override { return duplicates_.dropped(); }

 private:
  static constexpr std::int64_t kSlots = 16;
  /// A helper that found no room sleeps until there is room for so many.
  static constexpr std::int64_t kWake = 4;
  /// Pieces that must be right between two wrong guesses: what was read ahead is lost with each.
  static constexpr std::int64_t kBetweenGuesses = 4 * kSlots;

  struct alignas(64) Slot {
    capture::Piece piece;
    std::size_t reader = 0;    ///< whose numbers the addresses have
    std::int64_t number = -1;  ///< of the piece that is in it, whole
  };
  /// Reads the piece that `offset_` lies in, then lets the helpers go on from there.
  void begin();
  bool begin_anew(const capture::Piece& wrong);
  void help(std::size_t number, const std::stop_token& stop);
  bool may_claim() const { return claimed_ - released_ < kSlots; }
  /// Reads the next piece that nobody has claimed. `lock` is released meanwhile.
  void read_one(capture::PieceReader& reader, std::size_t reader_number,
                std::unique_lock<std::mutex>& lock);
  Slot& next_slot();
  void deliver(std::span<packet::Packet> packets, std::vector<packet::Address> addresses);
  const Batch* next_of_rest();

  std::unique_ptr<capture::PiecedFile> file_;
  capture::FileFacts facts_;
  Numbering& numbering_;
  Duplicates duplicates_;
  std::optional<capture::PieceReader> reader_;  ///< the taking thread's, number 0
  /// What the helpers' readers begin with: they number on from the first piece's addresses, so
  /// that mostly all numbers are equal.
  packet::AddressTable first_addresses_;
  std::size_t readers_;
  std::vector<CommonNumbers> numbers_;  ///< by reader
  std::array<Slot, kSlots> slots_;
  Batch batch_;
  std::int64_t offset_ = capture::kPcapFileHeader;  ///< of the next record
  bool in_pieces_ = true;
  std::unique_ptr<capture::Reader> rest_;  ///< once the pieces came to their end
  CommonNumbers rest_numbers_;
  std::vector<packet::Packet> rest_room_;
  std::optional<capture::Damage> damage_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Pieces are counted from the beginning of the file; number n lies in slots_[n % kSlots].
  std::int64_t first_ = 0;  ///< what the helpers began behind
  std::int64_t claimed_ = 0;
  std::int64_t taken_ = 0;
  std::int64_t released_ = 0;
  bool past_end_ = false;  ///< a piece had no byte: helpers have nothing more to do
  std::exception_ptr failure_;
  std::vector<std::jthread> helpers_;  ///< last: they use the others
};

}  // namespace tw::gather
