// SPDX-License-Identifier: Apache-2.0
// Moves the parts of one exchange over the rank's connections: sums, replaces, never waits for what
// it does not need.
//
// One thread, no copies but the kernel's and one pass through the cache for sums. Memory: the
// payload and one scratch block; where ranks exchange the same chunks, as much again for what has
// not been sent when the other's begins to come.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/trainer/add.h"
#include "trainwire/trainer/transfer_log.h"
#include "trainwire/transport/tcp/mesh.h"
#include "trainwire/transport/tcp/patience.h"
#include "trainwire/workload/parts.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tw::trainer {

using workload::kElementBytes;
using workload::Part;
using workload::Parts;

/// Another rank is gone or silent: what happened to it is told there.
class PeerLost : public Error {
 public:
  enum class How { Gone, Silent };
  explicit PeerLost(const std::string& what, How how_lost = How::Gone)
      : Error(what), how(how_lost) {}
  How how;
};

struct ExchangeOptions {
  /// Nothing moved for so long: somebody is gone without a word.
  Duration patience = std::chrono::seconds(30);
  /// Called at most every 10 ms while waiting or moving.
  std::function<void(std::int64_t monotonic_ns)> tick = {};
  TransferLog* transfers = nullptr;  ///< what has moved is told there
  /// What adding is to words of the payload: floats, unless told.
  void (*add)(float* into, const std::byte* from, std::size_t count) = trainer::add;
};

/// Moments of one exchange; CLOCK_MONOTONIC.
struct ExchangeTimes {
  std::int64_t begin_ns = 0;
  std::int64_t first_ns = 0;   ///< the first byte had moved
  std::int64_t summed_ns = 0;  ///< all parts that add had been sent and received
  std::int64_t end_ns = 0;
  std::int64_t queued_summed = 0;  ///< bytes the kernel still had to send then
  std::int64_t queued_end = 0;
  std::int64_t added_bytes = 0;     ///< of parts that add, sent and received
  std::int64_t replaced_bytes = 0;  ///< of those that replace
};

/// Bytes over one connection so far; of payload unless said.
struct WireCount {
  std::int64_t sent = 0;
  std::int64_t framing = 0;  ///< sent besides payload
};

class Exchange {
 public:
  /// REQUIRES: payload and connections outlive it.
  Exchange(std::span<float> payload, std::span<const transport::tcp::Connection> connections,
           ExchangeOptions options);

  /// Moves everything, for that step. REQUIRES: rewound. Throws PeerLost that names the peer when a
  /// connection breaks or nothing moves.
  ExchangeTimes run(Parts& parts, std::int64_t step);

  const std::vector<WireCount>& counts() const { return counts_; }

 private:
  struct Channel {
    int socket = -1;
    bool readable = true;  ///< not known to be empty
    bool writable = true;  ///< not known to be full
    std::size_t next_send = 0;
    std::size_t next_receive = 0;
    std::size_t carried = 0;  ///< bytes of an element that has not come whole
  };

  void begin(const Parts& parts);
  bool move(Parts& parts);
  bool send(Parts& parts, std::size_t wire);
  bool receive(Parts& parts, std::size_t wire);
  bool receive_into(Part& part, std::size_t wire, std::int64_t limit);
  bool tries_again();
  void wait(const Parts& parts);
  void keep_unsent(const Parts& parts, const Part& part);
  void finish_part(const Parts& parts, const Part& part);
  std::int64_t queued() const;
  std::span<std::byte> bytes(std::int64_t begin, std::int64_t end);
  [[noreturn]] void fail(std::size_t wire, const transport::tcp::Moved& moved) const;
  [[noreturn]] void complain(const Parts& parts) const;

  std::span<float> payload_;
  std::span<const transport::tcp::Connection> connections_;
  ExchangeOptions options_;
  std::vector<Channel> channels_;
  std::vector<WireCount> counts_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte> carries_;     ///< an element of each channel
  std::vector<std::byte> kept_ = {};   ///< what was not sent when the other's came, at its place
  std::vector<bool> sends_kept_ = {};  ///< by part
  std::size_t left_ = 0;               ///< parts that are not finished
  std::size_t adding_left_ = 0;
  ExchangeTimes times_ = {};
  std::int64_t step_ = 0;
  transport::tcp::Patience patience_;
  std::int64_t ticked_ns_ = 0;
  bool brief_ = false;
  std::int64_t tries_from_ns_ = 0;  ///< since when nothing has moved, in a brief exchange
};

}  // namespace tw::trainer
