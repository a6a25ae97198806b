// SPDX-License-Identifier: Apache-2.0
// A sender of a group: a contribution to sums, for which the hub answers, or the hub's own packets,
// for which every member does. No more packets are on their way than there are slots for; what is
// lost is sent again.
//
// Packets are numbered; each message begins with a new one, so that all contributors cut alike.
// Paths do not reorder: when a packet is there that was sent later than another, the other one is
// lost, and is sent again for all. A contributor does not know whose packet is missing in a sum, so
// all of them send theirs again. Where nothing is heard for a while (a millisecond and three round
// trips as measured, doubled each time), the oldest packet is sent again; where that helped, twice
// as many the next time.
//
// There is no congestion control: the window is that of slots, and of what the path holds, over the
// packets that come to the receiver for each that is sent (`fan`): where switches pass on what they
// have no slots for, everybody sends less.

#pragma once

#include "trainwire/group/options.h"
#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/ring.h"
#include "trainwire/netsim/time.h"

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace tw::group {

using netsim::kNever;
using netsim::Packet;
using netsim::Ring;
using netsim::Time;

class Sender {
 public:
  /// Takes a packet that has only what the sender knows: number, sizes, whether it asks for an
  /// answer. Returns when it has left the host's line; kNever: never.
  using Emit = std::function<Time(const Packet& packet, Time now)>;

  Sender(const Options& options, int receivers, Emit emit);

  /// The next message. REQUIRES: bytes > 0.
  void write(std::int64_t bytes, Time now);
  void heard(int receiver, const Packet& answer, Time now);
  Time due() const { return timeout_at_ < send_at_ ? timeout_at_ : send_at_; }
  /// REQUIRES: due() <= now.
  void woken(Time now);

  /// Packets that were sent at least once; those of all messages.
  std::int64_t sent() const { return out_.end(); }
  std::int64_t written() const { return written_; }
  /// The first packet that somebody misses.
  std::int64_t needed() const { return out_.begin(); }
  /// Whether there was a sending whose number ends so.
  bool was_sent(std::uint32_t sending) const {
    return static_cast<std::uint32_t>(sending_) - sending - 1 < sending_;
  }

  struct Counts {
    std::int64_t packets = 0;  ///< first time
    std::int64_t resent = 0;
    std::int64_t timeouts = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Out {
    std::int32_t payload_bytes = 0;
    int heard = 0;  ///< receivers that have it
    std::int64_t first_sending = 0;
    std::int64_t sending = 0;  ///< number of the last one
    Time sent = 0;             ///< then
    bool is_waiting = false;   ///< to be sent again
  };
  struct Message {
    std::int64_t end = 0;  ///< packet
    std::int32_t last_payload = 0;
  };
  struct Heard {
    std::int64_t next = 0;               ///< the first packet that it misses
    std::set<std::int64_t> beyond = {};  ///< that are there nevertheless
    std::int64_t judged = 0;             ///< sendings before it have come or are lost
  };

  int window() const;
  bool has_more() const;
  std::int64_t next_to_send();
  void push(Time now);
  void emit(std::int64_t number, Time now);
  bool note(Heard& receiver, std::int64_t number, Time now);
  void judge(Heard& receiver);
  void repeat(std::int64_t number);
  void time_out(Time now);
  Time patience() const;

  Options options_;
  Emit emit_;
  std::vector<Heard> heard_;     ///< by receiver
  Ring<Message> messages_;       ///< not all sent
  std::int64_t written_ = 0;     ///< packets of all messages
  Ring<Out> out_;                ///< by number, from the first that somebody misses
  Ring<std::int64_t> sendings_;  ///< packet of each that not all receivers have judged
  std::int64_t sending_ = 0;     ///< number of the next one
  Ring<std::int64_t> missing_;   ///< to be sent again
  std::int64_t evidence_ = 0;    ///< the latest sending that the present answer tells of
  int outstanding_ = 0;          ///< packets that somebody misses
  int unasked_ = 0;
  std::uint32_t fan_ = 1;
  Time line_free_ = 0;  ///< of what was sent
  Time send_at_ = kNever;
  Time timeout_at_ = kNever;
  double smoothed_ = 0;  ///< round trip, in picoseconds
  int doubled_ = 0;
  int probing_ = 0;  ///< packets to be sent again whatever the window: nothing was heard
  int probes_ = 0;   ///< packets that the last time-out sent again; 0: others have come since
  Counts counts_;
};

}  // namespace tw::group
