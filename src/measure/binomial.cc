// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/binomial.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/distributions.h"

namespace tw::measure {

ShareInterval binomial_interval(std::uint64_t events, std::uint64_t trials, double confidence) {
  check(trials > 0 && events <= trials, "events are some of the trials");
  check(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1");
  const double tail = (1 - confidence) / 2;
  const auto k = static_cast<double>(events);
  const auto rest = static_cast<double>(trials - events);
  return {.low = events == 0 ? 0 : stats::beta_quantile(k, rest + 1, tail),
          .high = events == trials ? 1 : stats::beta_quantile(k + 1, rest, 1 - tail)};
}

bool contains(const ShareInterval& interval, double share) {
  return interval.low <= share && share <= interval.high;
}

}  // namespace tw::measure
