// SPDX-License-Identifier: Apache-2.0
// One port in virtual time: the wait for the line, the full queue, the mark, the loss, the delay.
//
// All is decided per wire packet (segment) although packets of many segments pass as one. Such a
// packet is a train: its time is that of its last segment, the others lie `spacing_ns` apart before
// it. So a train is as long in time as the slowest line so far made it, the next line begins to
// send it while its end is still arriving, and no queue sees 64 KB in an instant that in reality
// would come one by one. Segments that are lost or that differ in their mark cut the train in
// pieces.
//
// A host's own port is the exception when real programs send: the kernel's token bucket on the
// host's device enforces rate and queue there, because only it can push back on the sender. Here
// the line just undoes the bucket's bursts: nothing is dropped or marked, and nothing waits longer
// than a burst.
//
// Limits: jitter is drawn per train.

#pragma once

#include "trainwire/fabric/buffers.h"
#include "trainwire/fabric/line.h"
#include "trainwire/fabric/port_counters.h"
#include "trainwire/fabric/port_model.h"
#include "trainwire/fabric/segments.h"
#include "trainwire/network/plan.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace tw::fabric {

/// A packet on its way. Times are nanoseconds since the switch began.
struct Frame {
  Buffer packet;
  Segments segments;
  int to = 0;                  ///< host
  std::vector<int> also = {};  ///< further hosts, of a multicast
  std::int64_t time_ns = 0;    ///< when its last segment is where it goes
  double spacing_ns = 0;       ///< from segment to segment
};

class VirtualPort {
 public:
  enum class Queue { InKernel, Here };

  /// `counters` and `pool` must outlive it.
  VirtualPort(const network::Port& port, Queue queue, std::uint64_t seed, PortCounters& counters,
              BufferPool& pool);
  VirtualPort(VirtualPort&&) = default;

  /// A frame reaches the port at its time. Frames come in order of time, nearly.
  void arrive(Frame frame);
  /// Counts a frame that cannot be held at all.
  void refuse(const Segments& segments);

  bool empty() const { return leaving_.empty(); }
  /// When the next frame has passed the port; they leave in the order in which they came.
  /// REQUIRES: !empty().
  std::int64_t next_ns() const { return leaving_.front().time_ns; }
  Frame leave();

 private:
  enum class Fate : std::uint8_t { Kept, Marked, Gone };
  struct Judged {
    Fate fate;
    double left_ns;  ///< when it has left the line
  };

  void judge(const Frame& frame);
  Judged pass_line(double at_ns, int bytes, bool may_mark);
  Fate queue_fate(double at_ns, int bytes, bool may_mark);
  void emit(Frame& frame, int first, int count);
  void schedule(Frame frame, int first, int count);

  void obey(double at_ns);

  Queue queue_;
  BitRate rate_;            ///< the plan's
  double ordered_bps_ = 0;  ///< instead
  double queue_bytes_;
  double burst_bytes_;
  std::optional<double> mark_bytes_;
  Line line_;
  LossModel loss_;
  DelayModel delay_;
  PortCounters& counters_;
  BufferPool& pool_;
  std::vector<Judged> judged_;  ///< of the train at hand
  std::deque<Frame> leaving_;
};

}  // namespace tw::fabric
