// SPDX-License-Identifier: Apache-2.0
// The sending end of an RDMA queue pair. A message is a work request, cut into packets of equal
// size but for its last, the first with the header of a write; they leave at the rate that DCQCN
// allows, never more than two at a time into the card's own port, so that queue pairs of a host take
// turns and a port that is paused holds all of them back. There is no window.
//
//   acknowledgement   all packets before it are there
//   NAK               so, and the one that it names is missing: go back to it
//   notice (CNP)      marks were seen: the rate falls
//
// Where the receiver keeps what is out of order, an acknowledgement also tells which packet caused
// it, and what was sent before that and is not there is sent again. Where nothing is heard for the
// time-out, everything that is not known to be there is sent again.
//
// Limits: a queue pair never gives up (cards do after seven time-outs). A repetition that is lost is
// found like anything else; cards differ. Where paths reorder, what was sent less than
// Options::reordering before another that came is waited for; what is later is sent twice, and what
// was lost just before the end is found by time-out.

#pragma once

#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/ring.h"
#include "trainwire/rdma/dcqcn.h"
#include "trainwire/rdma/options.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

namespace tw::netsim {

class RdmaSender {
 public:
  /// Puts a packet into the host's port; kNever: it was dropped. `departed` is called for every
  /// other.
  using Emit = std::function<Time(const Packet& packet, Time now)>;

  RdmaSender(const rdma::Options& options, int connection, Emit emit);

  /// More bytes of a work request, its last ones or not.
  void write(std::int64_t bytes, bool ends, Time now);
  /// Forgets what was not sent yet.
  void give_up();
  void heard(const Packet& answer, Time now);
  /// One of its packets is on the line as a whole.
  void departed(Time now);
  /// When due() has come.
  void woken(Time now);
  /// When something has to be done although nothing came; kNever.
  Time due() const { return std::min(timeout_at_, send_at_); }

  /// All bytes before this one have been sent at least once.
  std::int64_t sent_bytes() const { return cut_; }
  /// Of the first bytes up to the end of a packet. REQUIRES: it is outstanding.
  std::int64_t end_byte(std::int64_t number) const { return out_[number].end_byte; }
  /// Bits a second, as far as DCQCN has a say.
  double rate(Time now) {
    return dcqcn_ ? dcqcn_->rate(duration_of(now)) : options_.line.bits_per_second();
  }

  struct Counts {
    std::int64_t packets = 0;  ///< first time
    std::int64_t resent = 0;
    std::int64_t timeouts = 0;
    std::int64_t naks = 0;
    std::int64_t notices = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Out {
    std::int64_t end_byte = 0;
    std::int32_t payload_bytes = 0;
    std::uint16_t frame_bytes = 0;
    bool is_there = false;     ///< out of order
    std::int64_t sending = 0;  ///< number of its last sending
  };

  void push(Time now);
  std::int64_t next_to_send();
  bool can_cut() const;
  void cut();
  bool has_more();
  void emit(std::int64_t number, Time now);
  void acknowledged(const Packet& answer);
  void judge(std::int64_t sending);
  void time_out();

  rdma::Options options_;
  int connection_;
  Emit emit_;
  std::optional<rdma::Dcqcn> dcqcn_ = {};

  std::int64_t written_ = 0;
  std::int64_t cut_ = 0;             ///< bytes that are in packets
  Ring<std::int64_t> request_ends_;  ///< bytes: of work requests not all cut
  bool begins_request_ = true;
  Ring<Out> out_;               ///< by number, from the first that is not acknowledged
  std::int64_t next_ = 0;       ///< packet: what is behind it is sent, or sent again, in order
  Ring<std::int64_t> missing_;  ///< packets to be sent again one by one
  struct Sending {
    std::int64_t packet = 0;
    Time at = 0;
  };
  Ring<Sending> sendings_;  ///< that were not judged yet
  int unasked_ = 0;         ///< packets since one that asked for an acknowledgement

  int in_host_ = 0;  ///< packets in the host's port
  double paced_until_ = 0;
  Time send_at_ = kNever;
  Time timeout_at_ = kNever;
  Counts counts_;
};

}  // namespace tw::netsim
