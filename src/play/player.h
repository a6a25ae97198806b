// SPDX-License-Identifier: Apache-2.0
// All ranks of a training, carrying out their scripts without a clock or a socket: whoever drives
// tells when time has passed and messages have come, and is told what the ranks do next.
//
//   Player                     driver (play.h, or a simulator of a network)
//     send(message)     ->       when its last byte has left: left(message)
//                                when it is there:            came(message)
//     follow(message)   ->       the same, and when its first bytes are there: began(message)
//     wake(rank, at)    ->       at that time:                woke(rank)
//     reads(message)    ->       until then a socket holds what comes of it, no more
//     moved(row)        ->       a transfer has ended at one of its ends: what a rank's log shows
//
// Scripts are workload's (script.h), order and waits inside an exchange collective's (cursor.h),
// bytes and lanes workload's (parts.h): the same that trainer/loop.h carries out. On each
// connection messages leave one after another, and come in that order.
//
// Where forward overlaps, ranks agree on the order of buckets without messages (turns.h).
//
// Where a strategy cuts through and the driver knows `follow`, a rank passes a transfer on from its
// first bytes; otherwise when it is there as a whole.
//
// A rank reads a message when it is its turn and what it writes over has been sent.
//
// Limits: memory grows with all ranks' transfers.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace tw::play {

enum class Kind {
  Gradient,  ///< a transfer, or a lane's share of one
  Request,   ///< asks a peer for its payload
  Side,      ///< a word on a side connection
};

/// On its way from transfer.from to transfer.to.
struct Message {
  Kind kind = Kind::Gradient;
  std::int64_t step = 0;
  int bucket = workload::kWholePayload;
  collective::Transfer transfer = {};
  int lane = 0;
  workload::Range range = {};  ///< of the payload

  /// On the line, without headers.
  std::int64_t bytes() const;
  bool operator==(const Message&) const = default;
};

/// A message has ended at one of its ends.
struct Moved {
  int rank = 0;  ///< that sent or received it
  Message message = {};
  Duration at = {};
};

/// A rank has done its script once; servers that answer each worker for itself tell none.
struct Step {
  int rank = 0;
  std::int64_t step = 0;
  Duration begin = {};
  Duration end = {};
};

struct Driver {
  std::function<void(const Message& message)> send;
  std::function<void(int rank, Duration at)> wake;
  /// Sends a message that is passed on as it comes: never ahead of those that are still coming,
  /// called `behind` as the driver called them in `began`. Absent: no transfer is passed on before
  /// it is whole.
  std::function<void(const Message& message, std::span<const std::uint64_t> behind)> follow = {};
  /// Told once of each transfer, of a connection in order, but of those to ranks that read whatever
  /// comes (reads_anytime).
  std::function<void(const Message& message)> reads = {};
  std::function<void(const Moved& moved)> moved = {};
  std::function<void(const Step& step)> stepped = {};
  /// A rank begins its script once more; servers as in `stepped`.
  std::function<void(int rank, std::int64_t step, Duration now)> steps = {};
};

/// Whether a rank reads whatever comes, when it comes: servers that answer each worker for itself,
/// who draws peers, and where forward overlaps: there what comes first tells whose turn it is.
bool reads_anytime(const workload::Training& training, int rank);

class Player {
 public:
  /// REQUIRES: the training outlives it.
  Player(const workload::Training& training, Driver driver);
  ~Player();

  /// All ranks begin; times count from when everybody is ready.
  void begin();
  void left(const Message& message, Duration now);
  void came(const Message& message, Duration now);
  /// Of a message that follows: its first bytes are there. `as` is the driver's name for it.
  void began(const Message& message, std::uint64_t as, Duration now);
  void woke(int rank, Duration now);

  /// Whether every rank has done everything.
  bool done() const;
  bool done(int rank) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tw::play
