// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/step.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/forecast/changes.h"
#include "trainwire/forecast/formula.h"
#include "trainwire/forecast/packets.h"
#include "trainwire/medium/sending.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/links.h"
#include "trainwire/workload/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::forecast {
namespace {

constexpr int kSteps = 4;  ///< of what repeats itself, after its warm-up
constexpr int kWarmup = 2;
constexpr double kSharedSteps = 20;  ///< of the job with the fewest, where others are in the way
constexpr int kMostWarmup = 5;
constexpr int kManyRanks = 512;
constexpr double kMostByMarks = 40;  ///< of what the network takes, packet by packet
constexpr double kSameSteps = 1e-9;  ///< seeds that differ by rounding alone

bool draws(const spec::Job& job) {
  return *job.compute_jitter > 0 || collective::strategy(*job.strategy).draws_peers;
}

/// What steps of all jobs are multiplied by: of several one that ends early would leave the others alone.
double shorter_together(const spec::Experiment& experiment) {
  std::int64_t fewest = *experiment.jobs.front().steps;
  for (const spec::Job& job : experiment.jobs) fewest = std::min(fewest, *job.steps);
  return std::min(1.0, kSharedSteps / static_cast<double>(std::max<std::int64_t>(1, fewest)));
}

/// The experiment as it is simulated: its steps as few as tell the median.
spec::Experiment shortened(spec::Experiment experiment, const Asking& asking, bool chance) {
  const std::int64_t most = chance ? asking.most_steps : kSteps;
  const bool alone = experiment.jobs.size() == 1 && experiment.traffic.empty();
  const double shorter = shorter_together(experiment);
  for (spec::Job& job : experiment.jobs) {
    const auto together =
        static_cast<std::int64_t>(std::ceil(shorter * static_cast<double>(*job.steps)));
    job.steps.value = alone ? std::min<std::int64_t>(*job.steps, most) : together;
    job.warmup.value = std::min(*job.warmup, kMostWarmup);
    if (alone && !chance) job.warmup.value = std::min(std::max(*job.warmup, 1), kWarmup);
    // Closed forms do without; what it leaves behind is over after the warm-up.
    if (*job.ranks > kManyRanks) job.broadcast.value = false;
  }
  return experiment;
}

struct Medians {
  std::vector<double> step;
  std::vector<double> exchange;
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double spread_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = 0, squares = 0;
  for (const double value : values) mean += std::log(value) / static_cast<double>(values.size());
  for (const double value : values) squares += std::pow(std::log(value) - mean, 2);
  const double spread = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread > kSameSteps ? spread : 0;
}

std::vector<Tail> tails_of(const workload::Training& training, const Shape& shape,
                           const Line& line) {
  std::vector<Tail> tails;
  if (!training.overlap) return tails;
  for (const workload::Bucket& bucket : training.buckets) {
    const auto bytes = static_cast<double>(bucket.elements * workload::kElementBytes);
    const double exchange = exchange_seconds(shape, bytes, line);
    for (Tail& earlier : tails) earlier.exchange_s += exchange;
    tails.push_back({.from_s = seconds(training.compute.forward) + seconds(bucket.ready),
                     .exchange_s = exchange});
  }
  return tails;
}

/// Of the slowest rank where all wait for it.
double alone_seconds(const workload::Training& training) {
  double most = 1;
  const bool waits = training.straggler >= 0 && !training.asynchronous();
  for (int rank = 0; waits && rank < training.workers(); ++rank) {
    most = std::max(most, training.factor(rank));
  }
  return most * seconds(training.compute.total());
}

int seeds_of(const Asking& asking, bool chance) { return chance ? std::max(1, asking.seeds) : 1; }

std::vector<StepTime> simulated(const spec::Experiment& asked, const Asking& asking,
                                sim::Level level, double step_s = 0) {
  const bool chance = has_chance(asked);
  const int seeds = seeds_of(asking, chance);
  // Queues and windows take their time: all steps, where packets are few.
  const bool whole =
      level == sim::Level::Packet && packets_of(asked, step_s) * seeds <= asking.most_packets;
  spec::Experiment experiment = whole ? asked : shortened(asked, asking, chance);
  std::vector<Medians> jobs(experiment.jobs.size());
  for (int seed = 0; seed < seeds; ++seed) {
    experiment.run.seed.value = *asked.run.seed + static_cast<std::uint64_t>(seed);
    const record::Run run =
        sim::described(experiment, sim::simulate(experiment, level), sim::Telling::Summary);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const record::Job& job = run.jobs[i];
      if (!job.step) throw SpecError("no step is counted: job.steps is 0");
      jobs[i].step.push_back(job.step->median_s);
      jobs[i].exchange.push_back(job.exchange ? job.exchange->median_s : 0);
    }
  }
  std::vector<StepTime> found;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const workload::Training training = workload::training_of(experiment, experiment.jobs[i]);
    const Shape shape = shape_of(training);
    found.push_back({.median_s = median_of(jobs[i].step),
                     .compute_s = seconds(training.compute.total()),
                     .alone_s = alone_seconds(training),
                     .exchange_s = median_of(jobs[i].exchange),
                     .method = level == sim::Level::Packet ? Method::Packet : Method::Flow,
                     .noise = spread_of(jobs[i].step),
                     .seeds = seeds,
                     .tails = tails_of(training, shape, line_of(experiment.network)),
                     .regime = regime_of(asked, asked.jobs[i], training, shape)});
  }
  return found;
}

/// By packets, where they are few; else, or where there is something that only flows have, what was found without them.
std::vector<StepTime> by_few_packets(const spec::Experiment& experiment, const Asking& asking,
                                     std::vector<StepTime> found) {
  if (asking.most_packets <= 0) return found;
  const bool chance = has_chance(experiment);
  const double step_s = found.front().median_s;
  const double packets = packets_of(shortened(experiment, asking, chance), step_s);
  if (packets * seeds_of(asking, chance) > asking.most_packets) return found;
  try {
    return simulated(experiment, asking, sim::Level::Packet, step_s);
  } catch (const SpecError&) {
    return found;
  }
}

bool may_take_packets(const Asking& asking) {
  return !asking.alike || *asking.alike == Method::Packet;
}

/// Of more ranks that all carry the same in every round, but with other partners, packets fall out of step where runs do not.
constexpr int kMostInStep = 4;

/// Whether packets were nearer to runs, as who is late makes others late: trees, and doubling over hosts that do not
/// all do the same.
bool changes_partners(const spec::Experiment& experiment) {
  return std::any_of(experiment.jobs.begin(), experiment.jobs.end(), [&](const spec::Job& job) {
    const Shape shape = shape_of(workload::training_of(experiment, job));
    return !shape.even && (!shape.alike || *job.ranks <= kMostInStep);
  });
}

/// The slowest line on the way of a job's streams, over the longest way.
Line slowest_line(const spec::Network& network, const spec::Job& job) {
  Line line = line_of(network, job);
  const double whole = line.bytes_per_s / network.link.rate->bits_per_second();
  for (const spec::LinkOverride& link : network.overrides) {
    if (link.rate) {
      line.bytes_per_s = std::min(line.bytes_per_s, whole * (**link.rate).bits_per_second());
    }
  }
  line.round_trip_s = std::max(line.round_trip_s, seconds(spec::longest_round_trip(network)));
  return line;
}

/// Behind which streams wait elsewhere than in their hosts.
bool has_slower_lines(const spec::Network& network) {
  return *network.topology != spec::Topology::Star || !network.overrides.empty();
}

/// How many times more a path holds than waits where packets are marked, as a logarithm.
double marks_of(const Line& line) {
  const double times = line.bytes_per_s * line.round_trip_s / line.marked_bytes;
  return std::log(std::clamp(times, 1.0, kMostByMarks));
}

/// What full queues do to streams that meet, and marks to any, is known to flows no better than what shallow queues do.
/// Regimes that come before stay: chance, others and ranks that do not wait are in them.
void count_overflows(const spec::Experiment& experiment, std::vector<StepTime>& found) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const spec::Job& job = experiment.jobs[i];
    if (medium::sending_of(experiment.network, job).manner == medium::Manner::Rdma) continue;
    const workload::Training training = workload::training_of(experiment, job);
    const Shape shape = shape_of(training);
    const Line line = slowest_line(experiment.network, job);
    const Regime regime = found[i].regime;
    const bool is_worse =
        regime == Regime::Loss || regime == Regime::Shared || regime == Regime::Asynchronous;
    const bool marks = marks_early(shape, line) ||
                       (has_slower_lines(experiment.network) && marks_before_rates(shape, line));
    if (marks) found[i].marks = marks_of(line);
    const bool full = overflows(training, shape, line);
    if (full) found[i].overflowing = static_cast<int>(training.buckets.size());
    if (!is_worse && (marks || full)) found[i].regime = Regime::Queue;
  }
}

/// Whether several hosts send to one at a time, which TCP shares less evenly than flows do. Of strategies whose partners change
/// changes_partners() says more.
bool streams_meet(const spec::Experiment& experiment) {
  return std::any_of(experiment.jobs.begin(), experiment.jobs.end(), [&](const spec::Job& job) {
    const Shape shape = shape_of(workload::training_of(experiment, job));
    return shape.even && shape.meet();
  });
}

/// By flows, or by packets where they are few and nearer.
std::vector<StepTime> simulated(const spec::Experiment& experiment, const Asking& asking) {
  std::vector<StepTime> found = simulated(experiment, asking, sim::Level::Flow);
  count_overflows(experiment, found);
  const bool is_alike = asking.alike == Method::Packet;
  if (!is_alike && !is_nearer_by_packets(found.front().regime) && !changes_partners(experiment) &&
      !streams_meet(experiment)) {
    return found;
  }
  return may_take_packets(asking) ? by_few_packets(experiment, asking, std::move(found)) : found;
}

struct Answer {
  std::optional<StepTime> found = {};
  std::string because = {};
  bool meets =
      false;  ///< several hosts send to one at a time, which TCP shares less evenly than this says
};

Answer by_formula(const spec::Experiment& experiment) {
  if (std::string more = asks_for_simulation(experiment); !more.empty()) return {.because = more};
  const workload::Training training = workload::training_of(experiment, experiment.jobs.front());
  if (std::string more = asks_for_simulation(training); !more.empty()) return {.because = more};
  const Shape shape = shape_of(training);
  const Line line = line_of(experiment.network, experiment.jobs.front());
  if (std::string more = asks_for_simulation(training, shape, line); !more.empty()) {
    return {.because = more};
  }
  double exchange = 0;
  for (const workload::Bucket& bucket : training.buckets) {
    const auto bytes = static_cast<double>(bucket.elements * workload::kElementBytes);
    exchange += exchange_seconds(shape, bytes, line);
  }
  // What queues do to many streams is not in the formula: it is as uncertain as where they are shallow.
  const bool full = overflows(training, shape, line);
  const Regime regime =
      full ? Regime::Queue : regime_of(experiment, experiment.jobs.front(), training, shape);
  return {.found = StepTime{.median_s = step_seconds(training, shape, line),
                            .compute_s = seconds(training.compute.total()),
                            .alone_s = alone_seconds(training),
                            .exchange_s = exchange,
                            .tails = tails_of(training, shape, line),
                            .overflowing = full ? static_cast<int>(training.buckets.size()) : 0,
                            .regime = regime},
          .meets = shape.meet()};
}

}  // namespace

bool varies(const spec::Network& network) {
  return *network.link.jitter > Duration::zero() ||
         std::any_of(network.overrides.begin(), network.overrides.end(), [](const auto& link) {
           return link.jitter && **link.jitter > Duration::zero();
         });
}

std::string_view name_of(Method method) {
  switch (method) {
    case Method::Formula:
      return "formula";
    case Method::Flow:
      return "flow simulation";
    case Method::Packet:
      return "packet simulation";
  }
  return "";
}

bool has_chance(const spec::Experiment& experiment) {
  return is_lossy(experiment.network) || !experiment.traffic.empty() ||
         std::any_of(experiment.jobs.begin(), experiment.jobs.end(), draws);
}

std::string no_formula(const spec::Experiment& experiment) {
  return by_formula(experiment).because;
}

std::vector<StepTime> step_times(const spec::Experiment& experiment, const Asking& asking) {
  if (experiment.jobs.empty()) throw SpecError("no jobs: there is nothing to predict");
  std::vector<StepTime> found;
  std::string because;
  if (!asking.level) {
    Answer answer = by_formula(experiment);
    because = std::move(answer.because);
    if (asking.only_formula && !answer.found) {
      throw SpecError(
          fmt::format("the formula does not hold: {}; --level flow simulates", because));
    }
    if (answer.found) found = {std::move(*answer.found)};
    const bool is_alike = asking.alike == Method::Packet;
    if (!found.empty() && (is_alike || (answer.meets && may_take_packets(asking)))) {
      found = by_few_packets(experiment, asking, std::move(found));
    }
    if (!found.empty() && found.front().method == Method::Packet) {
      because = answer.meets ? "several hosts send to one at a time"
                             : "what it is compared with was simulated so";
    }
  }
  if (found.empty()) {
    const bool delays_vary = varies(experiment.network);
    if (delays_vary && !asking.level) because = "delays vary, which only packets show";
    const std::optional<sim::Level> level =
        delays_vary && !asking.level ? sim::Level::Packet : asking.level;
    found = level ? simulated(experiment, asking, *level) : simulated(experiment, asking);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].because = because;
    if (!asking.adjusted) continue;
    found[i].median_s = asking.adjusted(i, found[i].median_s, found[i].alone_s);
  }
  return found;
}

}  // namespace tw::forecast
