// SPDX-License-Identifier: Apache-2.0
// Segments that were sent and not yet acknowledged as a whole, with what the sender believes of
// each: on its way, selectively acknowledged, lost, sent again. Counts are kept, never computed.

#pragma once

#include "trainwire/netsim/ring.h"
#include "trainwire/netsim/time.h"

#include <cstdint>

namespace tw::netsim {

struct SentSegment {
  Time sent = 0;  ///< last
  std::int64_t end_byte = 0;
  std::int32_t bytes = 0;
  bool sacked = false;
  bool lost = false;
  bool resent = false;         ///< at least once
  bool resent_alive = false;   ///< the last time it was sent is not known to be lost
  bool app_limited = false;    ///< the sender had no more to send then
  std::int64_t delivered = 0;  ///< segments delivered when it was sent
  Time delivered_at = 0;       ///< when that had last changed
  Time first_sent = 0;         ///< when the segment was sent that had then been acknowledged last
  std::int64_t older = -1;     ///< neighbours in the order of sending; -1: none
  std::int64_t newer = -1;

  /// To be sent again.
  bool waits() const { return lost && !resent_alive; }
};

class Outstanding {
 public:
  std::int64_t first() const { return segments_.begin(); }
  std::int64_t next() const { return segments_.end(); }
  bool empty() const { return segments_.empty(); }
  bool has(std::int64_t number) const { return number >= first() && number < next(); }
  SentSegment& operator[](std::int64_t number) { return segments_[number]; }
  const SentSegment& operator[](std::int64_t number) const { return segments_[number]; }

  int count() const { return static_cast<int>(segments_.size()); }
  int sacked() const { return sacked_; }
  int lost() const { return lost_; }
  int resent() const { return resent_; }
  /// That are on their way, as far as the sender knows.
  int in_flight() const { return count() - sacked_ - lost_ + resent_; }

  /// Sent for the first time; returns its number.
  std::int64_t send(SentSegment segment);
  /// Sent again.
  void resend(std::int64_t number, Time now);
  void mark_lost(std::int64_t number);
  void mark_sacked(std::int64_t number);
  /// The first segment is acknowledged as a whole and forgotten. REQUIRES: !empty().
  void drop_first();

  /// Of those on their way, in the order of sending; -1: none.
  std::int64_t oldest() const { return oldest_; }
  /// The first segment at or behind `number` that is lost and was not sent again; -1: none.
  std::int64_t next_to_resend(std::int64_t number) const;

 private:
  void link_newest(std::int64_t number);
  void unlink(std::int64_t number);

  Ring<SentSegment> segments_;
  int sacked_ = 0;
  int lost_ = 0;
  int resent_ = 0;
  int waiting_ = 0;  ///< lost and not sent again
  std::int64_t oldest_ = -1;
  std::int64_t newest_ = -1;
};

}  // namespace tw::netsim
