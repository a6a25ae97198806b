// SPDX-License-Identifier: Apache-2.0
// One direction of a TCP connection as whoever lets it flow needs it: how fast it may be now, when
// that changes by itself, what is lost on the way. It knows its path, not who shares it.
//
// A *round* is one round trip, in which a window's worth may leave; whether it leaves at once or
// evenly makes no difference to the next one. So what does not fit into a round is held to the
// window over the round trip, and its end, which fits, to nothing: exactly when the last byte of a
// window-limited message leaves.
//
// The window doubles in a round, as far as it is used, until it is twice what the path holds (CUBIC, which Linux has leave
// slow start when acknowledgements of a round take longer than half a round trip: one and a half
// times), to its old threshold or to the first loss; then it grows as RFC 9438 or Reno says, and no
// further than it is used. Nothing sent for longer than a timeout: halved (tcp_laws.h). Losses are
// drawn one by one: they cut the window once a round trip, when they are told, and what was lost is
// there a round trip later: by tail loss probes or timeouts where nothing follows that would tell
// (RFC 8985, as Linux 6 does it). BBR's window does not mind; its pace follows what it has seen
// (bbr_flight.h).
//
// Acknowledgements are cumulative: a stream waits where all of a round are lost.
//
// What comes faster than it goes on waits in a queue: a window after a pause comes as fast as the
// lines before allow, slow start twice as fast as it is answered. What finds the queue full is lost,
// and so is what a window has more than path and queue hold, once the queue has been filled: until then it waits in its host.
//
// Limits: a queue that streams share is divided by their rates; what is sent again is not lost there.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/fluid/bbr_flight.h"
#include "trainwire/fluid/tcp_laws.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace tw::fluid {

/// Rates are bytes of payload a second.
struct TcpPath {
  Stack stack = Stack::Cubic;
  double segment_bytes = 1448;
  double train_bytes = 1448;                                     ///< that a sender sends at once
  double rtt_s = 0;                                              ///< while no queue is in the way
  double line = std::numeric_limits<double>::infinity();         ///< the slowest one on the way
  double queue_bytes = std::numeric_limits<double>::infinity();  ///< that may wait before it
  double largest_window = std::numeric_limits<double>::infinity();  ///< that sockets have room for
  double buffer_bytes = 0;                                          ///< of a sender, at first
  double loss = 0;                                                  ///< of a segment, on all ports
  double back_loss = 0;                                             ///< of an acknowledgement
  double loss_burst = 1;                                            ///< mean segments lost in a row
  bool operator==(const TcpPath&) const = default;
};

class TcpStream {
 public:
  struct Chance {
    std::uint64_t seed = 1;
    std::uint64_t number = 0;  ///< of the stream: each loses other segments
  };
  TcpStream(const TcpPath& path, Chance chance);

  struct Gone {
    double bytes = 0;
    double seconds = 0;
    bool was_held = false;  ///< by cap(), not by others
  };

  /// What of the queue before a line, and of the line, is there for it.
  struct Queue {
    double fits =
        std::numeric_limits<double>::infinity();  ///< bytes of a round to come, until full
    double more = std::numeric_limits<double>::infinity();  ///< of this one, from now on
    double comes = 0;  ///< bytes a second of a round that come there
    double part = 0;   ///< of what comes beyond that, which is lost
    double room = std::numeric_limits<double>::infinity();  ///< bytes beside what is on its way
    double rate = 0;
    double fills_s = 0;  ///< how long what its host sends faster takes to fill the room
    bool operator==(const Queue&) const = default;
  };
  /// What acknowledgements wait on their way back, from the next round on.
  void answers_wait(double s) { answers_wait_s_ = s; }
  /// From now on; without BBR, which keeps to the pace it sees.
  void meets(const Queue& queue, double now_s);
  /// How much of a round comes faster than it is answered, with `left` bytes to go; 0: nothing does.
  double bursts(double left) const;
  /// Of that, after so long at that rate: what is in the queue, and what is not there yet.
  struct Burst {
    double queued = 0;
    double to_come = 0;
  };
  Burst burst(const Gone& gone, double left) const;
  /// Whether that is as fast as lines allow, not twice as fast as answers come.
  bool is_after_pause() const { return after_pause_; }

  /// The path has become another.
  void set_path(const TcpPath& path);
  const TcpPath& path() const { return path_; }

  /// A message begins, after others or an idle while.
  void begin(double now_s);
  /// The most that it may have in this round, with `left` bytes of the message to go; infinite where
  /// the window is no limit.
  double cap(double now_s, double left) const;
  /// So much has gone until now.
  void sent(const Gone& gone, double now_s);
  /// When it changes by itself at that rate, unless the message ends before; infinite: never.
  double next(double now_s, double rate, double left) const;

  struct Lost {
    double again_after_s = 0;  ///< from now: until what was lost has left once more
    bool is_tail = false;      ///< nothing followed; the next message would speed it up
  };
  /// What next() has said: a round has ended, or something was lost just now.
  std::optional<Lost> change(double now_s, double left);

  double window_bytes() const { return window_; }
  /// What its window has beside what is on its way at that rate.
  double ahead(double rate) const { return std::max(0.0, allowed() - rate * round_trip_s()); }
  /// What the kernel takes from the program before it leaves at that rate: its buffer, or a window,
  /// less what is on its way.
  double takes(double rate) const;
  /// What a loss takes to be noticed when something follows but little.
  double noticed_s() const;

 private:
  double round_trip_s() const;
  double come(const Gone& gone) const;
  double full(double rate) const;
  double allowed() const;
  bool is_held() const;
  bool is_over(double left) const;
  double filled_s() const { return filling_s_ + queue_.fills_s; }
  double to_overflow(double now_s, double left) const;
  Lost overflow(double now_s, double left);
  bool uses_window(double now_s, double rate) const;
  void grow(const Gone& gone, double now_s);
  double most_out() const;
  void look(double now_s);
  double end_of_slow_start(const Gone& gone) const;
  void begin_epoch();
  double curve() const;
  double cubic_growth() const;
  void cut();
  void cut_if_told(double now_s);
  void rest(double now_s);
  Lost lose(double now_s, double left);
  void draw();
  Random& random();
  void begin_round(double now_s);
  double pace() const;
  bool is_unanswered();
  double answers_probe_s() const;

  TcpPath path_;
  Chance chance_;
  std::optional<Random> random_;  ///< where something is lost
  double window_;
  double threshold_ = std::numeric_limits<double>::infinity();
  double rtt_s_;  ///< with the queue that the window makes
  double answers_wait_s_ = 0;
  double last_s_ = 0;
  double round_end_s_ = 0;
  double budget_ = 0;  ///< bytes that may leave before the round ends
  double used_ = 0;    ///< that have left in it
  double come_ = 0;    ///< of it, to the queue
  double full_ = std::numeric_limits<double>::infinity();  ///< that have come when it is full
  double used_before_ = 0;   ///< and in the one before, unless a pause was between
  double round_window_ = 0;  ///< when it began
  double to_loss_ = std::numeric_limits<double>::infinity();  ///< bytes
  Queue queue_ = {};
  double filling_s_ = 0;     ///< since when its queue is one that may overflow
  bool after_pause_ = true;  ///< the round's window comes at once
  bool was_held_ = true;     ///< by cap()
  double cut_until_s_ = 0;   ///< a round trip after a loss, others do not count
  /// When the sender is told of a loss; infinite: there is none.
  double told_s_ = std::numeric_limits<double>::infinity();
  bool timed_out_ = false;  ///< it will be, then
  double repaired_s_ = 0;   ///< until then the window does not grow
  bool has_lost_ = false;   ///< since the begin, or a time-out
  // Since the window was cut, or has left slow start:
  double age_s_ = 0;     ///< as long as it was used
  double looked_s_ = 0;  ///< that old when its curve was looked at
  double looks_s_ = 0;   ///< and when it will be
  double base_ = 0;      ///< the window then
  double plateau_ = 0;   ///< CUBIC's: the window before
  BbrFlight bbr_;
};

}  // namespace tw::fluid
