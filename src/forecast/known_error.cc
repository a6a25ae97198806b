// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/known_error.h"

#include "trainwire/forecast/errors.h"
#include "trainwire/forecast/regime.h"
#include "trainwire/workload/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tw::forecast {
namespace {

/// Errors are logarithms; less than that is no reason for a warning.
const double kSmall = std::log(1.15);

double percent(double error) { return 100 * std::expm1(error); }

std::string_view words(Regime regime) {
  switch (regime) {
    case Regime::Loss:
      return "over links that lose packets";
    case Regime::Shared:
      return "beside other traffic or jobs";
    case Regime::Asynchronous:
      return "whose ranks do not wait for one another";
    case Regime::Queue:
      return "over shallow queues";
    case Regime::Servers:
      return "in which many send to one";
    case Regime::Late:
      return "with a late rank or a slow link";
    case Regime::Latency:
    case Regime::Bandwidth:
      break;
  }
  return "with nothing in their way";
}

Regime least_sure(const spec::Experiment& experiment, Method method) {
  Regime found = Regime::Bandwidth;
  for (const spec::Job& job : experiment.jobs) {
    const workload::Training training = workload::training_of(experiment, job);
    const Regime regime = regime_of(experiment, job, training, shape_of(training));
    if (errors().of(method, regime) > errors().of(method, found)) found = regime;
  }
  return found;
}

}  // namespace

std::optional<record::Check> known_error(const spec::Experiment& experiment, sim::Level level) {
  const Method method = level == sim::Level::Packet ? Method::Packet : Method::Flow;
  const Regime regime = least_sure(experiment, method);
  const double error = errors().of(method, regime);
  if (error <= kSmall) return {};
  std::string text = fmt::format(
      "{}, one in ten runs of jobs {} was off by more than {:.0f} % of what the network takes",
      method == Method::Packet ? "packet by packet" : "flow by flow", words(regime),
      percent(error));
  const double by_packets = errors().of(Method::Packet, regime);
  if (method != Method::Packet && by_packets < error) {
    text += fmt::format("; --level packet by more than {:.0f} %", percent(by_packets));
  }
  return record::Check{.name = "level",
                       .ok = true,
                       .expected = fmt::format("nine of ten runs within {:.0f} %", percent(kSmall)),
                       .found = fmt::format("{:.0f} %, of {} jobs", percent(error),
                                            errors().runs_of(method, regime)),
                       .text = std::move(text),
                       .caution = true};
}

}  // namespace tw::forecast
