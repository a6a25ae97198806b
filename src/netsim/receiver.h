// SPDX-License-Identifier: Apache-2.0
// The receiving end of a TCP connection: what has come in order and out of it, and when that is
// acknowledged. As Linux: every second segment, the first ones and whatever is out of order at once,
// a lone one after the delay; of what is out of order the three ranges that changed last.
//
// Segments that follow each other on the line without a pause are taken as one where the sender
// sends trains: a card joins them, and one acknowledgement answers them.

#pragma once

#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/tcp_options.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tw::netsim {

class Receiver {
 public:
  using Emit = std::function<void(const Packet& packet, Time now)>;

  Receiver(const TcpOptions& options, int connection, Emit emit);

  /// `continues`: the next segment follows without a pause.
  void arrived(const Packet& packet, bool continues, Time now);
  void woken(Time now);
  Time due() const { return due_; }

  /// The first segment that is missing.
  std::int64_t next() const { return next_; }

 private:
  /// Notes a segment; false: it was there before.
  bool note(std::int64_t segment);
  void remember(Range range);
  void take_mark(const Packet& packet, Time now);
  void acknowledge(Time now);

  TcpOptions options_;
  int connection_;
  Emit emit_;
  bool echoes_each_;  ///< DCTCP: marks are echoed as they are, not until they are heard

  std::int64_t next_ = 0;
  std::vector<Range> early_;   ///< came out of order, by number
  std::vector<Range> latest_;  ///< the same, the one that changed last first; at most four
  int unanswered_ = 0;         ///< segments
  int joined_ = 0;
  int quick_ = 16;      ///< acknowledgements that are sent at once
  Time latest_at_ = 0;  ///< when a segment came last
  bool at_once_ = false;
  bool duplicate_ = false;
  bool echo_ = false;
  Time due_ = kNever;
};

}  // namespace tw::netsim
