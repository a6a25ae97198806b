// SPDX-License-Identifier: Apache-2.0
// What TCP makes of a path, as formulas: windows under loss, the rate that follows, what an idle
// while leaves of a window. Windows are in segments, times in seconds, rates in segments a second.
//
// Sources: Mathis et al. 1997 (10.1145/263932.264023); Padhye et al. 2000 (10.1109/90.842137), with
// the weight of its timeouts measured on Linux; RFC 9438 (CUBIC; its tables are those of RFC 8312);
// Cardwell et al. 2016 (10.1145/3022184) for BBR; RFC 2861 as Linux does it, for idle connections.
//
// Limits: means over a long transfer. What happens to one message is tcp_stream.h's.

#pragma once

#include <string_view>

namespace tw::fluid {

/// How a sender reacts to loss.
enum class Stack { Reno, Cubic, Bbr };

/// By the kernel's name. What is not known here is taken for CUBIC, the kernel's own choice; DCTCP
/// without marks is Reno, and so is MLTCP but for its weight.
Stack stack_of(std::string_view congestion_control);

/// What loss leaves of a window: CUBIC 0.7, Reno a half.
double kept_after_loss(Stack stack);
/// Segments by which a window grows a round trip, away from CUBIC's plateau.
double growth_per_round_trip(Stack stack);

/// CUBIC's constant, in segments a second cubed.
inline constexpr double kCubic = 0.4;

/// Mean window under that share of loss: sqrt(3 / 2p). REQUIRES: 0 < loss <= 1.
double reno_window(double loss);
/// The larger of that and CUBIC's own, 1.054 (rtt / p)^(3/4).
double cubic_window(double loss, double rtt_s);

/// Rate under loss; infinite without. Padhye's formula with a timeout of 200 ms; for BBR none
/// while fewer than one in five are lost, and nothing above.
double loss_rate(Stack stack, double loss, double rtt_s);

/// The least that Linux waits for an acknowledgement before it sends again, less the round trip.
inline constexpr double kLeastTimeout_s = 0.2;
inline constexpr double kInitialWindow = 10;  ///< RFC 6928

/// A window after nothing was sent for `idle_s`: halved for each timeout that went by, not below the
/// initial one (Linux's tcp_cwnd_restart).
double window_after_idle(double window, double idle_s, double timeout_s);

}  // namespace tw::fluid
