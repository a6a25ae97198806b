// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/need.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"
#include "trainwire/forecast/interval.h"
#include "trainwire/forecast/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace tw::forecast {
namespace {

constexpr double kNear = 1.005;    ///< the search ends there
constexpr double kNearLoss = 1.1;  ///< of what is drawn
constexpr double kSpare = 1.1;     ///< of the bandwidth with which delay and loss are borne
constexpr double kLeastRate = 1e6, kMostRate = 1.6e12;
constexpr double kLeastDelay = 1e-7, kMostDelay = 1;
constexpr double kLeastLoss = 1e-6, kMostLoss = 0.1;
/// A step of many ranks that lose much takes minutes to simulate: losses are looked for from below, no longer than that.
constexpr double kTenfold = 10;
constexpr std::chrono::seconds kPatience{5};
using Clock = std::chrono::steady_clock;
/// Packets of one step that is simulated, and of each of a search's.
constexpr double kFewPackets = 2e7, kFewInSearch = 5e5;

/// A step and the ends of its interval.
struct Judged {
  double low = 0;
  double middle = 0;
  double high = 0;
};

Judged judged(const spec::Experiment& experiment, const Asking& asking, double constants) {
  const StepTime step = step_times(experiment, asking).front();
  const Interval interval = interval_of(experiment, step, constants);
  return {.low = interval.low_s, .middle = step.median_s, .high = interval.high_s};
}

using With = std::function<spec::Experiment(double value)>;

/// Steps at values of one setting, each found once.
class Steps {
 public:
  Steps(With with, const Asking& asking, double constants)
      : with_(std::move(with)), asking_(asking), constants_(constants) {}

  const Judged& at(double value) {
    auto known = known_.find(value);
    if (known == known_.end()) {
      known = known_.emplace(value, judged(with_(value), asking_, constants_)).first;
    }
    return known->second;
  }

 private:
  With with_;
  const Asking& asking_;
  double constants_;
  std::map<double, Judged> known_ = {};
};

/// The value between `good`, which reaches the goal, and `bad`, which does not, to a factor of `near`.
struct Search {
  double goal = 0;
  double good = 0;
  double bad = 0;
  double near = kNear;
  double stride = 0;  ///< `bad` is looked for by it, upwards from `good`; 0: it is taken as it is
  Clock::time_point until =
      {};  ///< of a search with a stride: `good` is told as far as it was found
};

/// A nearer `bad` above; nothing where there is none, or no time.
std::optional<double> first_bad(const std::function<bool(double)>& reaches, Search& search) {
  while (search.good < search.bad && Clock::now() < search.until) {
    const double next = std::min(search.bad, search.stride * search.good);
    if (!reaches(next)) return next;
    search.good = next;
  }
  return {};
}

/// Nothing where both ends do the same.
std::optional<double> edge(Steps& steps, double Judged::*end, Search search) {
  const auto reaches = [&](double value) { return steps.at(value).*end <= search.goal; };
  if (!reaches(search.good)) return {};
  search.until = Clock::now() + kPatience;
  if (search.stride > 0) {
    const std::optional<double> bad = first_bad(reaches, search);
    if (!bad && search.good >= search.bad) return {};
    if (!bad) return search.good;
    search.bad = *bad;
  } else if (reaches(search.bad)) {
    return {};
  }
  const auto is_late = [&] { return search.stride > 0 && Clock::now() > search.until; };
  while (std::max(search.good, search.bad) / std::min(search.good, search.bad) > search.near &&
         !is_late()) {
    const double middle = std::sqrt(search.good * search.bad);
    (reaches(middle) ? search.good : search.bad) = middle;
  }
  return search.good;
}

Bound bound_of(Steps steps, const Search& search) {
  Bound bound{.value = edge(steps, &Judged::middle, search),
              .low = edge(steps, &Judged::low, search),
              .high = edge(steps, &Judged::high, search)};
  if (search.good < search.bad) std::swap(bound.low, bound.high);  // a quick step bears more
  // An end that there was no time for.
  if (bound.value && bound.low) bound.low = std::min(*bound.low, *bound.value);
  if (bound.value && bound.high) bound.high = std::max(*bound.high, *bound.value);
  bound.is_none = !bound.value && steps.at(search.good).middle > search.goal;
  return bound;
}

/// Of links that have their own, those above the network's keep what they have above it.
BitRate raised(BitRate own, BitRate usual, double bps) {
  return BitRate(bps) * std::max(1.0, own / usual);
}

spec::Experiment at_rate(spec::Experiment experiment, double bps) {
  spec::Network& network = experiment.network;
  const BitRate usual = *network.link.rate;
  network.link.rate.value = BitRate(bps);
  network.core_rate.value = raised(*network.core_rate, usual, bps);
  for (spec::LinkOverride& link : network.overrides) {
    if (link.rate) link.rate->value = raised(**link.rate, usual, bps);
  }
  return experiment;
}

bool has_links_that_differ(const spec::Network& network) {
  const bool has_core = *network.topology != spec::Topology::Star;
  return (has_core && *network.core_rate != *network.link.rate) ||
         std::any_of(network.overrides.begin(), network.overrides.end(), [&](const auto& link) {
           return link.rate && **link.rate != *network.link.rate;
         });
}

spec::Experiment at_delay(spec::Experiment experiment, double s) {
  spec::Network& network = experiment.network;
  const bool core_follows = *network.core_delay == *network.link.delay;
  network.link.delay.value = from_seconds(s);
  if (core_follows) network.core_delay.value = network.link.delay.value;
  return experiment;
}

/// A step packet by packet, where that is simulated soon and nothing else was asked for.
std::optional<double> packets_s(const spec::Experiment& experiment, const Asking& asking) {
  if (asking.level || asking.only_formula || asking.adjusted) return {};
  Asking whole = asking;
  whole.most_packets = kFewPackets;
  whole.alike = Method::Packet;
  const StepTime step = step_times(experiment, whole).front();
  return step.method == Method::Packet ? std::optional(step.median_s) : std::nullopt;
}

spec::Experiment at_loss(spec::Experiment experiment, double loss) {
  experiment.network.link.loss.value = loss;
  return experiment;
}

}  // namespace

Goal parse_goal(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (key == "efficiency") {
    if (const auto share = parse_fraction(value); share && *share > 0 && *share < 1) {
      return {.efficiency = share};
    }
  }
  if (key == "step") {
    if (const auto time = parse_duration(value); time && time->count() > 0) {
      return {.step_s = seconds(*time)};
    }
  }
  throw SpecError(fmt::format(
      "--need {}: a goal is needed, as in efficiency=0.9 (above 0, below 1) or step=100ms", text));
}

Need need_of(const spec::Experiment& experiment, const Goal& goal, const Asking& asking,
             double constants) {
  Need need{.goal = goal, .differ = has_links_that_differ(experiment.network)};
  if (experiment.jobs.size() > 1) need.job = *experiment.jobs.front().name;
  const StepTime now = step_times(experiment, asking).front();
  if (goal.efficiency) {
    if (std::string problem = no_compute(experiment, 0); !problem.empty()) throw SpecError(problem);
    need.step_s = now.compute_s / *goal.efficiency;
  } else {
    need.step_s = *goal.step_s;
  }
  need.is_met = now.median_s <= need.step_s;
  const double fastest = judged(at_rate(experiment, kMostRate), asking, constants).middle;
  if (fastest > need.step_s) {
    need.is_possible = false;
    need.problem = fmt::format(
        "no bandwidth is enough: with 1.6 Tbit/s a step still takes {}, {} is asked for",
        readable(from_seconds(fastest)), readable(from_seconds(need.step_s)));
    return need;
  }
  need.rate_bps =
      bound_of({[&](double bps) { return at_rate(experiment, bps); }, asking, constants},
               {.goal = need.step_s, .good = kMostRate, .bad = kLeastRate});
  // A little more than is needed, or there is no room for anything.
  const double needed = need.rate_bps.value.value_or(kLeastRate);
  const spec::Experiment enough = need.is_met ? experiment : at_rate(experiment, kSpare * needed);
  const spec::Experiment just = need.is_met ? experiment : at_rate(experiment, needed);
  need.method = step_times(just, asking).front().method;
  need.packets_s = packets_s(just, asking);
  const auto delay = [&] {
    need.delay_s = bound_of({[&](double s) { return at_delay(enough, s); }, asking, constants},
                            {.goal = need.step_s, .good = kLeastDelay, .bad = kMostDelay});
  };
  Asking once = asking;
  once.seeds = 1;  // a search of losses takes many simulations
  once.only_formula = false;
  if (!asking.level && !asking.adjusted) once.most_packets = kFewInSearch;
  const auto loss = [&] {
    need.loss = bound_of({[&](double share) { return at_loss(enough, share); }, once, constants},
                         {.goal = need.step_s,
                          .good = kLeastLoss,
                          .bad = kMostLoss,
                          .near = kNearLoss,
                          .stride = kTenfold});
  };
  in_parallel(2, [&](std::size_t i) { i == 0 ? loss() : delay(); });
  return need;
}

}  // namespace tw::forecast
