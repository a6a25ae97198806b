// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/path.h"

#include <algorithm>
#include <chrono>

namespace tw::measure {
namespace {

using namespace std::chrono_literals;

/// For the last packets: the way itself, and what a busy machine adds to it.
Duration patience(const PathExpectation& expected) { return 2 * expected.round_trip + 200ms; }

}  // namespace

LossOptions loss_options(const PathExpectation& expected) {
  constexpr double kFrameBits = 8 * (kLossProbeBytes + 62);  // IPv6's headers, the larger ones
  constexpr double kLongest = 5;
  const double per_second = std::min(20'000.0, expected.rate.bits_per_second() / 5 / kFrameBits);
  const double most = std::max(1.0, kLongest * per_second);
  return {
      .packets = static_cast<std::uint64_t>(std::min(expected.loss > 0 ? 20'000.0 : 2'000.0, most)),
      .per_second = per_second,
      .patience = patience(expected)};
}

PathMeasurement measure_path(const PathEnd& from, const PathEnd& to,
                             const PathExpectation& expected) {
  PathMeasurement measured;
  measured.round_trip = measure_round_trip(from, to, {.patience = patience(expected)});
  measured.loss = measure_loss(from, to, loss_options(expected));
  // The loss that was counted, not the one that was asked for: they may differ, and that is judged
  // by itself.
  const double lost = expected.loss > 0 ? measured.loss.share() : 0;
  measured.rate = measure_rate(from, to,
                               {.expected = expected.rate,
                                .sends = expected.sends,
                                .burst = expected.burst,
                                .loss = std::min(lost, 0.99),
                                .patience = patience(expected)});
  return measured;
}

}  // namespace tw::measure
