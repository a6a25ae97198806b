// SPDX-License-Identifier: Apache-2.0
// The sending end of a TCP connection, as Linux behaves: losses are found by time (RACK-TLP, RFC
// 8985) from selective acknowledgements, repaired while the window shrinks in proportion (PRR, RFC
// 9937) and, where nothing comes back, after a time-out with back-off (RFC 6298); a window that was
// not used for long shrinks (RFC 7661 in Linux's form: halved for each time-out of pause). A sender
// does not flood its own host's queue: it keeps about a millisecond of its rate there, or two trains
// (TCP small queues).
//
// The sender neither knows the network nor has a clock: who owns it tells acknowledgements and the
// time, takes packets, and asks when to call again.
//
// Limits: the receiver's window does not grow, it is what it can be; nothing is undone that was
// reduced in error, but where paths reorder: there duplicates that receivers tell of (DSACK) widen
// RACK's wait by a quarter of the round trip each, for 16 recoveries, and undo a reduction once all
// that was sent again has come twice.

#pragma once

#include "trainwire/base/pace.h"
#include "trainwire/netsim/congestion.h"
#include "trainwire/netsim/outstanding.h"
#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/rtt.h"
#include "trainwire/netsim/tcp_options.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace tw::netsim {

/// Of bytes that a receiver has room for.
inline constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

class Sender {
 public:
  /// Puts a packet on the host's line; returns when its last bit has left it, kNever: dropped.
  using Emit = std::function<Time(const Packet& packet, Time now)>;

  Sender(const TcpOptions& options, int connection, Emit emit);

  /// More bytes to send.
  void write(std::int64_t bytes, Time now);
  /// What is written from now on is of a new step of so many bytes; 0: nobody knows.
  void begin_step(std::int64_t bytes) {
    step_begin_ = written_;
    step_bytes_ = bytes;
  }
  /// Bytes from there on are not sent, for a receiver whose socket holds `room`; kUnbounded: he reads.
  void bound(std::int64_t bytes, std::int64_t room, Time now);
  /// Forgets what was not sent yet.
  void give_up() { written_ = handed_ = cut_; }
  void acknowledged(const Packet& ack, Time now);
  /// When due() has come.
  void woken(Time now);
  /// When something has to be done although nothing came; kNever.
  Time due() const { return std::min({timer_at_, room_at_, written_next_}); }

  /// All bytes before this one are the kernel's: sent, or in its buffer.
  std::int64_t taken_bytes() const {
    return std::max(cut_, std::min(handed_, acknowledged_ + buffer_bytes()));
  }
  std::int64_t sent_bytes() const { return cut_; }
  /// Of the first bytes up to the end of a segment. REQUIRES: it is outstanding.
  std::int64_t end_byte(std::int64_t segment) const { return out_[segment].end_byte; }

  const Window& window() const { return window_; }
  const Outstanding& outstanding() const { return out_; }
  const RoundTrip& round_trip() const { return rtt_; }
  State state() const { return state_; }
  const Congestion& congestion() const { return *congestion_; }

  struct Counts {
    std::int64_t segments = 0;  ///< first time
    std::int64_t resent = 0;
    std::int64_t timeouts = 0;
    std::int64_t probes = 0;
    std::int64_t recoveries = 0;
    std::int64_t undone = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  enum class Timer { None, Timeout, Probe, Reordering };

  // Sending.
  std::int64_t unsent() const { return std::min(handed_, bound_) - cut_; }
  void hand_over(Time now);
  void offer_more(std::int64_t acknowledged_bytes);
  std::int64_t buffer_bytes() const;
  void push(Time now);
  void resend_lost(Time now);
  void send_new(Time now);
  int train_limit() const;
  bool waits_for_more(int segments, int wanted, Time now) const;
  bool has_room(Time now);
  void forget_left(Time now);
  void send_segment(Time now);
  void emit(std::int64_t number, Time now);
  void use_window(bool limited, Time now);
  void resume_after_pause(Time now);
  double pace_per_second() const;

  // Hearing.
  void deliver(std::int64_t number, Time now, AckNews& news);
  void take_sacks(const Packet& ack, Time now, AckNews& news);
  void alert(const Packet& ack, AckNews& news, Time now);
  void leave_state();
  void control(AckNews& news, bool advanced);
  void take_probe_ack(const Packet& ack);
  double step_share() const;

  // Losses.
  int find_losses(Time now);
  Time reordering_window() const;
  void enter_recovery();
  void enter_reduced();
  void begin_reduction(Congestion::Cause cause);
  void end_reduction();
  void reduce(const AckNews& news, bool advanced);
  void time_out(Time now);
  void probe(Time now);

  // Where paths reorder.
  void hear_duplicate();
  void undo();

  // Timers.
  void arm(Timer timer, Time now, Time wait);
  void disarm() {
    timer_ = Timer::None;
    timer_at_ = kNever;
  }
  void arm_timeout(Time now);
  void arm_probe_or_timeout(Time now);

  TcpOptions options_;
  int connection_;
  std::int64_t bound_ = kUnbounded;
  std::int64_t offered_ = 0;  ///< by a receiver that has begun to read; 0: as much as it can
  Emit emit_;
  std::unique_ptr<Congestion> congestion_;
  Window window_;
  Outstanding out_;
  RoundTrip rtt_;
  int window_limit_;  ///< segments

  std::int64_t written_ = 0;
  std::int64_t handed_ = 0;           ///< bytes of it that the program has given to the kernel
  std::optional<Pace> program_ = {};  ///< it does so at this pace
  Time written_next_ = kNever;        ///< and next then
  std::int64_t cut_ = 0;              ///< bytes that are in segments
  std::int64_t acknowledged_ = 0;
  std::uint32_t train_ = 0;
  std::int64_t step_begin_ = 0;  ///< byte
  std::int64_t step_bytes_ = 0;

  State state_ = State::Open;
  std::int64_t recovery_end_ = 0;  ///< segment: what was sent before it is repaired
  int reduction_delivered_ = 0;
  int reduction_sent_ = 0;
  std::int64_t resend_from_ = 0;
  bool tell_reduced_ = false;
  /// What the last reduction would be undone to; as many sent again since as have not come twice.
  struct Undo {
    int segments = 0;
    int threshold = 0;
    int resent = 0;
    bool possible = false;
    bool proven = false;
  };
  Undo undo_ = {};

  // RACK: the segment that was sent last among those delivered.
  Time newest_sent_ = 0;
  std::int64_t newest_number_ = -1;
  Time newest_rtt_ = 0;
  bool reordered_ = false;
  int patience_ = 1;                ///< quarters of a round trip
  int patient_for_ = 0;             ///< recoveries
  std::int64_t patient_since_ = 0;  ///< segments delivered when it was last widened
  std::int64_t highest_delivered_ = -1;
  std::array<Range, 4> known_sacks_ = {};
  std::size_t next_known_ = 0;

  Timer timer_ = Timer::None;
  Time timer_at_ = kNever;
  int backoff_ = 0;
  std::int64_t probe_end_ = -1;  ///< a probe is out; its acknowledgement reaches this segment
  bool probe_is_old_ = false;    ///< it was a segment sent again

  // What of it waits in the host's own queue, and the control's pace.
  struct Queued {
    Time leaves = 0;
    int bytes = 0;
  };
  Ring<Queued> queued_;
  std::int64_t queued_bytes_ = 0;
  Time room_at_ = kNever;
  Time paced_until_ = 0;

  // Whether the window is used.
  bool window_limited_ = false;
  int most_out_ = 0;
  std::int64_t usage_end_ = 0;
  int used_ = 0;
  Time window_stamp_ = 0;
  Time last_sent_ = 0;

  // How fast segments are delivered.
  std::int64_t delivered_ = 0;
  Time delivered_at_ = 0;
  Time first_sent_ = 0;
  std::int64_t app_limited_until_ = 0;

  Counts counts_;
};

}  // namespace tw::netsim
