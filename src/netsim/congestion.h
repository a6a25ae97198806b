// SPDX-License-Identifier: Apache-2.0
// How many segments may be on their way: what TCP's congestion controls have in common, and who
// there is. The sender (sender.h) finds losses, reduces by PRR and asks here by how much; growth is
// theirs.

#pragma once

#include "trainwire/netsim/time.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tw::netsim {

/// As Linux names them.
enum class State { Open, Disorder, Reduced, Recovery, Loss };

struct Window {
  int segments = 10;
  int threshold = 1 << 30;  ///< slow start below
  int counted = 0;          ///< acknowledged since the window last grew
  int before = 0;           ///< the window before the last reduction
  bool is_slow_start() const { return segments < threshold; }
};

/// What an acknowledgement says, for who controls the window.
struct AckNews {
  Time now = 0;
  int delivered = 0;  ///< segments, selectively acknowledged ones too
  int lost = 0;       ///< found lost by it
  Time rtt = -1;      ///< -1: none measured
  Time smoothed_rtt = 0;
  Time least_rtt = kNever;
  int in_flight = 0;  ///< after it
  int in_flight_before = 0;
  std::int64_t first_unacknowledged = 0;
  std::int64_t next = 0;  ///< segment
  double pace = 0;        ///< segments a second that the window amounts to
  bool window_limited = true;
  bool marked = false;
  State state = State::Open;
  // How fast segments were delivered between the sending and the acknowledgement of one.
  std::int64_t total_delivered = 0;
  std::int64_t prior_delivered = -1;  ///< when that one was sent; -1: none
  Time interval = 0;
  bool app_limited = false;
  double step_share = -1;  ///< of the present step's bytes, that are acknowledged; -1: not known
};

class Congestion {
 public:
  virtual ~Congestion() = default;
  enum class Cause { Loss, Mark };
  /// Slow start's threshold after a loss, or a mark.
  virtual int threshold(const Window& window, Cause cause) = 0;
  /// Segments were acknowledged and the window may grow.
  virtual void grow(const AckNews& news, Window& window) = 0;
  /// Every acknowledgement, before anything else is done with it.
  virtual void hear(const AckNews&, Window&) {}
  virtual void timed_out(Window&) {}
  /// The connection sends again after a pause.
  virtual void resumed(Time /*pause*/) {}
  /// Whether it sets the window itself, in hear(), also while losses are repaired.
  virtual bool owns_window() const { return false; }
  /// Segments a second at which it wants them sent; 0: as the window allows.
  virtual double pace() const { return 0; }
  /// The share of segments that come back marked, as DCTCP averages it; 0 for others.
  virtual double marked_share() const { return 0; }
};

/// Adds acknowledged segments below the threshold; returns those that are left over.
int slow_start(Window& window, int acknowledged);
/// One more segment for each `per` acknowledged.
void additive_increase(Window& window, int per, int acknowledged);

std::unique_ptr<Congestion> make_reno();
std::unique_ptr<Congestion> make_cubic();
std::unique_ptr<Congestion> make_dctcp();
std::unique_ptr<Congestion> make_bbr();
std::unique_ptr<Congestion> make_mltcp();

/// By how much more than Reno's a window of MLTCP grows (congestion.cc); -1: as much.
double mltcp_gain(double step_share);

/// The names that make_congestion() knows.
std::span<const std::string_view> congestion_names();
/// Throws SpecError for an unknown name.
std::unique_ptr<Congestion> make_congestion(const std::string& name);

}  // namespace tw::netsim
