// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fluid/tcp_laws.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw::fluid {
namespace {

/// BBR's probing gain is 1.25: what it adds makes up for a fifth that is lost.
constexpr double kBbrLoss = 0.2;

/// How much Padhye's timeouts count: RACK and tail loss probes avoid many. Measured on Linux with 1
/// and 10 ms and 0.01 to 10 % of loss.
double weight_of_timeouts(Stack stack) { return stack == Stack::Cubic ? 0.81 : 0.33; }

}  // namespace

Stack stack_of(std::string_view congestion_control) {
  if (congestion_control == "reno" || congestion_control == "dctcp" ||
      congestion_control == "mltcp") {
    return Stack::Reno;
  }
  if (congestion_control.substr(0, 3) == "bbr") return Stack::Bbr;
  return Stack::Cubic;
}

double kept_after_loss(Stack stack) { return stack == Stack::Cubic ? 0.7 : 0.5; }

double growth_per_round_trip(Stack stack) {
  return stack == Stack::Cubic ? 3 * (1 - 0.7) / (1 + 0.7) : 1;
}

double reno_window(double loss) { return std::sqrt(1.5 / loss); }

double cubic_window(double loss, double rtt_s) {
  const double kept = kept_after_loss(Stack::Cubic);
  const double plateau = std::pow(kCubic * (3 + kept) / (4 * (1 - kept)), 0.25);
  return std::max(reno_window(loss), plateau * std::pow(rtt_s / loss, 0.75));
}

double loss_rate(Stack stack, double loss, double rtt_s) {
  if (loss <= 0) return std::numeric_limits<double>::infinity();
  if (stack == Stack::Bbr) return loss <= kBbrLoss ? std::numeric_limits<double>::infinity() : 0;
  const double window = stack == Stack::Cubic ? cubic_window(loss, rtt_s) : reno_window(loss);
  const double timeouts =
      kLeastTimeout_s * std::min(1.0, 3 * std::sqrt(3 * loss / 8)) * loss * (1 + 32 * loss * loss);
  return 1 / (rtt_s / window + weight_of_timeouts(stack) * timeouts);
}

double window_after_idle(double window, double idle_s, double timeout_s) {
  const double least = std::min(window, kInitialWindow);
  for (double left = idle_s - timeout_s; left > 0 && window > least; left -= timeout_s) window /= 2;
  return std::max(window, least);
}

}  // namespace tw::fluid
