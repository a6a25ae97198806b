// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::forecast {
namespace {

constexpr double kPerFold = 0.02;  ///< for each e-fold beyond what was measured

double beyond(double value, double least, double most) {
  if (value > most) return std::log(value / most);
  return value > 0 && value < least ? std::log(least / value) : 0;
}

}  // namespace

std::string beyond_range(const spec::Experiment& experiment) {
  const spec::LinkSettings& link = experiment.network.link;
  for (const spec::Job& job : experiment.jobs) {
    if (*job.ranks > kRange.ranks) {
      return fmt::format("{} ranks are more than the {} for which predictions were checked",
                         grouped(*job.ranks), grouped(kRange.ranks));
    }
  }
  const double rate = link.rate->bits_per_second();
  if (rate < kRange.least_bps || rate > kRange.most_bps) {
    return fmt::format("{} is outside of 1 Mbit/s to 1.6 Tbit/s, for which predictions hold",
                       readable(*link.rate));
  }
  if (seconds(*link.delay) > kRange.most_delay_s) {
    return fmt::format("a delay of {} is more than the second for which predictions hold",
                       readable(*link.delay));
  }
  if (*link.loss > kRange.most_loss) {
    return fmt::format("{:.3g} % of loss are more than the 10 % for which predictions hold",
                       100 * *link.loss);
  }
  return {};
}

std::string range_text() {
  return "measured on 2 to 16 hosts, 50 Mbit/s to 1 Gbit/s, to 20 ms a link, to 1 % loss; computed "
         "to 100,000 ranks, 1.6 Tbit/s";
}

double extrapolation_of(const spec::Experiment& experiment) {
  const double rate = experiment.network.link.rate->bits_per_second();
  return kPerFold * (beyond(rate, kRange.measured_least_bps, kRange.measured_most_bps) +
                     beyond(*experiment.network.hosts, 1, kRange.measured_hosts));
}

}  // namespace tw::forecast
