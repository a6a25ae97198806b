// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/advise.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/workload/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <set>

namespace tw::forecast {
namespace {

/// Of what messages cost a simulation: larger jobs are not tried in every way.
constexpr int kMostRanks = 256;
/// Of a choice: packets are taken where they are nearer and no more.
constexpr double kFewPackets = 2e6;
constexpr int kCompared = 6;  ///< strategies whose crossings are looked for
constexpr double kLeastBytes = 1e3, kMostBytes = 1e10;
/// Crossings are looked for no longer than that.
constexpr std::chrono::seconds kPatience{5};

using Clock = std::chrono::steady_clock;

using Settings = std::vector<std::string>;

/// Whether all end with the sum of all: then one way stands for another.
bool sums(const collective::Strategy& strategy) {
  return strategy.operation == collective::Operation::AllReduce ||
         strategy.operation == collective::Operation::ParameterServer;
}

void add_strategies(std::vector<Choice>& choices, const collective::Strategy& now) {
  for (const collective::Strategy& other : collective::catalogue()) {
    if (!sums(other) || other.name == now.name) continue;
    choices.push_back(
        {.kind = "strategy", .settings = {fmt::format("job.strategy={}", other.name)}});
    if (other.cuts_pieces) {
      choices.push_back({.kind = "strategy",
                         .settings = {fmt::format("job.strategy={}", other.name), "job.pieces=8"}});
    }
  }
}

/// More servers, each on a host of its own or beside workers.
void add_servers(std::vector<Choice>& choices, const spec::Experiment& experiment,
                 const collective::Strategy& now) {
  const int ranks = *experiment.jobs.front().ranks;
  const int hosts = *experiment.network.hosts;
  for (const collective::Strategy& other : collective::catalogue()) {
    if (!other.has_servers) continue;
    for (const int servers : std::set<int>{1, 2, 4, ranks / 2}) {
      if (servers < 1 || servers >= ranks) continue;
      // One server is what the strategy has by itself.
      const int present = now.has_servers ? *experiment.jobs.front().servers : 1;
      if (servers == present) continue;
      choices.push_back({.kind = "servers",
                         .settings = {fmt::format("job.strategy={}", other.name),
                                      fmt::format("job.servers={}", servers)}});
    }
    // A worker and a server on every host.
    const int workers = std::min(hosts, ranks);
    std::string places;
    for (int i = 0; i < 2 * workers; ++i) {
      places += fmt::format("{}\"host{}\"", i > 0 ? "," : "", i % workers);
    }
    choices.push_back({.kind = "servers beside workers",
                       .settings = {fmt::format("job.strategy={}", other.name),
                                    fmt::format("job.servers={}", workers),
                                    fmt::format("job.ranks={}", 2 * workers),
                                    fmt::format("job.placement=[{}]", places)}});
  }
}

/// A bucket holds whole tensors.
bool has_one_tensor(const workload::Training& training) {
  const auto& layers = training.model.layers;
  return std::count_if(layers.begin(), layers.end(),
                       [](const zoo::Layer& layer) { return layer.trainable > 0; }) == 1;
}

void add_buckets(std::vector<Choice>& choices, const workload::Training& training) {
  const std::int64_t bytes = training.bytes().count();
  for (const char* size : {"1MB", "5MB", "25MB", "100MB"}) {
    if (parse_bytes(size)->count() >= bytes) break;
    choices.push_back(
        {.kind = "bucket", .settings = {fmt::format("job.bucket={}", size), "job.overlap=true"}});
  }
}

void add_packing(std::vector<Choice>& choices, const spec::Experiment& experiment) {
  const int ranks = *experiment.jobs.front().ranks;
  for (const int per_host : {2, 4, 8}) {
    if (ranks % per_host != 0 || ranks / per_host < 1) continue;
    const std::string hosts = fmt::format("network.hosts={}", ranks / per_host);
    choices.push_back(
        {.kind = "ranks on a host", .settings = {hosts, fmt::format("job.ranks={}", ranks)}});
  }
}

void add_switches(std::vector<Choice>& choices) {
  choices.push_back({.kind = "in the network", .settings = {"job.aggregation=switch"}});
  choices.push_back({.kind = "in the network", .settings = {"job.distribution=multicast"}});
  choices.push_back({.kind = "in the network",
                     .settings = {"job.aggregation=switch", "job.distribution=multicast"}});
}

std::vector<Choice> all_choices(const spec::Experiment& experiment) {
  const workload::Training training = workload::training_of(experiment, experiment.jobs.front());
  std::vector<Choice> choices;
  if (sums(training.row())) {
    add_strategies(choices, training.row());
    add_servers(choices, experiment, training.row());
  }
  if (!has_one_tensor(training)) add_buckets(choices, training);
  add_packing(choices, experiment);
  add_switches(choices);
  return choices;
}

/// Whether one takes more or less for a sample, wherever in their intervals they are.
bool is_clear(const Choice& choice, const Interval& around, int workers) {
  const double scale = static_cast<double>(workers) / choice.workers;
  return choice.interval.low_s * scale > around.high_s ||
         choice.interval.high_s * scale < around.low_s;
}

void try_out(Choice& choice, const Variants& variants, const Asking& asking, double constants) {
  try {
    const spec::Experiment experiment = variants(choice.settings);
    choice.step = step_times(experiment, asking).front();
    choice.workers = *experiment.jobs.front().workers;
    choice.interval = interval_of(experiment, choice.step, constants);
  } catch (const Error&) {  // it cannot be laid out, or not be simulated
    choice.step.median_s = -1;
  }
}

/// How long a step takes; below 0 where it cannot be, or there is no more time to find out.
double step_at(const std::function<spec::Experiment()>& experiment, const Asking& asking,
               Clock::time_point end) {
  if (Clock::now() > end) return -1;
  try {
    return step_times(experiment(), asking).front().median_s;
  } catch (const Error&) {
    return -1;
  }
}

/// With another payload, cut as the job's own.
spec::Experiment with_bytes(spec::Experiment experiment, double bytes) {
  spec::Job& job = experiment.jobs.front();
  const workload::Training training = workload::training_of(experiment, job);
  job.payload_divisor *= static_cast<double>(training.bytes().count()) / bytes;
  return experiment;
}

/// Where the order of two changes between two values, by halves.
std::optional<double> crossing(const std::function<double(double)>& first,
                               const std::function<double(double)>& second, double low,
                               double high) {
  const auto ahead = [&](double at) -> std::optional<bool> {
    const double a = first(at), b = second(at);
    if (a <= 0 || b <= 0 || std::abs(a - b) < 1e-6 * std::max(a, b)) return {};
    return a < b;
  };
  const std::optional<bool> at_low = ahead(low), at_high = ahead(high);
  if (!at_low || !at_high || *at_low == *at_high) return {};
  while (high / low > 1.1) {
    const double middle = std::sqrt(low * high);
    const std::optional<bool> there = ahead(middle);
    if (!there) return middle;
    (*there == *at_low ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

/// The job's own strategy and those in the first places.
std::vector<Settings> compared_of(const spec::Experiment& experiment,
                                  const std::vector<Choice>& choices) {
  std::vector<Settings> compared{
      {fmt::format("job.strategy={}", *experiment.jobs.front().strategy)}};
  for (const Choice& choice : choices) {
    if (choice.kind != "strategy" || choice.settings.size() > 1) continue;
    if (compared.size() <= kCompared) compared.push_back(choice.settings);
  }
  return compared;
}

/// By payload, and by ranks.
std::vector<Crossing> crossings_of(const spec::Experiment& experiment,
                                   const std::vector<Choice>& choices, const Variants& variants,
                                   const Asking& asking) {
  const std::vector<Settings> compared = compared_of(experiment, choices);
  const Clock::time_point end = Clock::now() + kPatience;
  const auto by_bytes = [&](const Settings& settings) {
    return [&](double bytes) {
      return step_at([&] { return with_bytes(variants(settings), bytes); }, asking, end);
    };
  };
  const auto by_ranks = [&](const Settings& settings) {
    return [&](double ranks) {
      return step_at(
          [&] {
            Settings all = settings_for_ranks(experiment, static_cast<int>(std::lround(ranks)));
            all.insert(all.end(), settings.begin(), settings.end());
            return variants(all);
          },
          asking, end);
    };
  };
  std::vector<Crossing> found;
  for (std::size_t i = 1; i < compared.size(); ++i) {
    const Crossing names{.first = compared[0].front(), .second = compared[i].front()};
    const auto add = [&](const char* of, std::optional<double> value) {
      if (!value) return;
      found.push_back(names);
      found.back().of = of;
      found.back().value = *value;
    };
    add("gradient bytes",
        crossing(by_bytes(compared[0]), by_bytes(compared[i]), kLeastBytes, kMostBytes));
    add("ranks", crossing(by_ranks(compared[0]), by_ranks(compared[i]), 2, kMostRanks));
  }
  return found;
}

}  // namespace

Advice advise(const spec::Experiment& experiment, const Variants& variants, const Asking& asking,
              double constants) {
  if (experiment.jobs.size() != 1) {
    throw SpecError("--advise: there are several jobs; leave one of them");
  }
  if (*experiment.jobs.front().ranks > kMostRanks) {
    throw SpecError(fmt::format(
        "--advise: {} ranks are many to try everything with; ask for {} at most (--set), or with "
        "--what-if for what you have in mind",
        grouped(*experiment.jobs.front().ranks), kMostRanks));
  }
  Asking each = asking;
  if (!asking.level && !asking.only_formula && !asking.adjusted) each.most_packets = kFewPackets;
  const StepTime now = step_times(experiment, each).front();
  const Interval around = interval_of(experiment, now, constants);
  Advice advice{.choices = all_choices(experiment)};
  if (has_one_tensor(workload::training_of(experiment, experiment.jobs.front())))
    advice.left_out = "buckets: the model is one tensor, which none of them parts";
  in_parallel(advice.choices.size(),
              [&](std::size_t i) { try_out(advice.choices[i], variants, each, constants); });
  std::erase_if(advice.choices, [](const Choice& choice) { return choice.step.median_s < 0; });
  const int workers = *experiment.jobs.front().workers;
  for (Choice& choice : advice.choices) {
    choice.change = choice.step.median_s * workers / (now.median_s * choice.workers) - 1;
    choice.clear = is_clear(choice, around, workers);
  }
  std::stable_sort(advice.choices.begin(), advice.choices.end(),
                   [](const Choice& a, const Choice& b) { return a.change < b.change; });
  // Chance would have each of them simulated several times.
  if (!has_chance(experiment)) {
    advice.crossings = crossings_of(experiment, advice.choices, variants, asking);
  }
  return advice;
}

}  // namespace tw::forecast
