// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/scale.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"
#include "trainwire/workload/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>

namespace tw::forecast {
namespace {

constexpr int kMostRanks = 10'000'000;

int number_in(std::string_view text, std::string_view whole) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 1 ||
      value > kMostRanks) {
    throw SpecError(
        fmt::format("--scale {}: numbers of ranks are needed, as in 2..1024 or 2,4,8", whole));
  }
  return value;
}

ScalePoint point_of(const spec::Experiment& experiment, const Asking& asking, double constants) {
  const spec::Job& job = experiment.jobs.front();
  ScalePoint point{.ranks = *job.ranks, .workers = *job.workers};
  point.step = step_times(experiment, asking).front();
  point.interval = interval_of(experiment, point.step, constants);
  const double samples = static_cast<double>(point.workers) * *job.batch;
  const double compute = point.step.compute_s;
  point.throughput = samples / point.step.median_s;
  point.throughput_low = samples / point.interval.high_s;
  point.throughput_high = samples / point.interval.low_s;
  point.efficiency = std::min(1.0, compute / point.step.median_s);
  point.efficiency_low = std::min(1.0, compute / point.interval.high_s);
  point.efficiency_high = std::min(1.0, compute / point.interval.low_s);
  return point;
}

using Throughput = std::function<double(const ScalePoint&)>;

/// The fewest ranks whose throughput is above that of one alone.
std::optional<int> first_above(const std::vector<ScalePoint>& points, double alone,
                               const Throughput& of) {
  for (const ScalePoint& point : points) {
    if (point.ranks > 1 && of(point) > alone) return point.ranks;
  }
  return {};
}

std::optional<int> peak_of(const std::vector<ScalePoint>& points, const Throughput& of) {
  const auto best =
      std::max_element(points.begin(), points.end(),
                       [&](const ScalePoint& a, const ScalePoint& b) { return of(a) < of(b); });
  if (best == points.end() || best == points.end() - 1) return {};
  return best->ranks;
}

std::optional<int> last_half(const std::vector<ScalePoint>& points,
                             const std::function<double(const ScalePoint&)>& efficiency) {
  std::optional<int> last;
  for (const ScalePoint& point : points) {
    if (efficiency(point) >= 0.5) last = point.ranks;
  }
  const bool all = last && !points.empty() && *last == points.back().ranks;
  return all ? std::nullopt : last;
}

void conclude(Scaling& made, double alone) {
  std::vector<ScalePoint> points;
  for (const ScalePoint& point : made.points) {
    if (point.problem.empty()) points.push_back(point);
  }
  const Throughput middle = [](const ScalePoint& point) { return point.throughput; };
  const Throughput low = [](const ScalePoint& point) { return point.throughput_low; };
  const Throughput high = [](const ScalePoint& point) { return point.throughput_high; };
  made.break_even = {.value = first_above(points, alone, middle),
                     .low = first_above(points, alone, high),
                     .high = first_above(points, alone, low)};
  made.turns = {
      .value = peak_of(points, middle), .low = peak_of(points, low), .high = peak_of(points, high)};
  made.half = {
      .value = last_half(points, [](const ScalePoint& point) { return point.efficiency; }),
      .low = last_half(points, [](const ScalePoint& point) { return point.efficiency_low; }),
      .high = last_half(points, [](const ScalePoint& point) { return point.efficiency_high; })};
}

}  // namespace

Sizes parse_sizes(std::string_view text) {
  Sizes sizes;
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    sizes.first = number_in(text.substr(0, dots), text);
    sizes.last = number_in(text.substr(dots + 2), text);
    if (sizes.last < sizes.first) {
      throw SpecError(fmt::format("--scale {}: the first number is above the last", text));
    }
    return sizes;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    sizes.listed.push_back(number_in(text.substr(begin, end - begin), text));
    begin = end + 1;
  }
  return sizes;
}

std::vector<int> sizes_of(const Sizes& sizes) {
  std::set<int> all(sizes.listed.begin(), sizes.listed.end());
  if (all.empty()) {
    for (std::int64_t n = sizes.first; n < sizes.last; n *= 2) all.insert(static_cast<int>(n));
    all.insert(sizes.last);
  }
  return {all.begin(), all.end()};
}

std::string no_compute(const spec::Experiment& experiment, std::size_t job) {
  const workload::Training training = workload::training_of(experiment, experiment.jobs[job]);
  if (training.compute.total() > Duration::zero()) return {};
  return fmt::format(
      "{}: it has no compute time, and without it nobody can say how efficient a step is; give "
      "job.compute_time, or a model whose profile has one",
      training.name);
}

Scaling scaling(const spec::Experiment& experiment, const Sizes& sizes, const Variants& variants,
                const Asking& asking, double constants) {
  if (std::string problem = no_compute(experiment, 0); !problem.empty()) throw SpecError(problem);
  settings_for_ranks(experiment, *experiment.jobs.front().ranks);  // throws where they cannot vary
  const std::vector<int> numbers = sizes_of(sizes);
  Scaling made;
  made.points.resize(numbers.size());
  in_parallel(numbers.size(), [&](std::size_t i) {
    const std::size_t at = numbers.size() - 1 - i;  // the longest first
    try {
      const spec::Experiment larger = variants(settings_for_ranks(experiment, numbers[at]));
      made.points[at] = point_of(larger, asking, constants);
    } catch (const Error& error) {
      made.points[at] = {.ranks = numbers[at], .problem = error.what()};
    }
  });
  const double batch = *experiment.jobs.front().batch;
  const workload::Training training = workload::training_of(experiment, experiment.jobs.front());
  conclude(made, batch / seconds(training.compute.total()));
  return made;
}

}  // namespace tw::forecast
