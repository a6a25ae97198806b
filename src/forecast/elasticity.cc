// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/elasticity.h"

#include "trainwire/base/error.h"
#include "trainwire/workload/training.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace tw::forecast {
namespace {

constexpr double kChange = 1.1;
/// Student's t of 90 % for three lines through four points each.
constexpr double kStudent = 1.94;

struct Point {
  double x = 0;  ///< logarithm of the factor
  double y = 0;  ///< and of the step
  bool scatters = false;
};

Point point_of(const spec::Experiment& experiment, std::size_t job, const Asking& asking,
               double x) {
  const StepTime step = step_times(experiment, asking)[job];
  const bool scatters = step.method == Method::Packet || step.seeds > 1;
  return {.x = x, .y = std::log(step.median_s), .scatters = scatters};
}

/// A line through points on both sides of 0.
struct Slope {
  double percent = 0;
  double deviation = 0;  ///< of points from it
  double spread = 0;     ///< root of the sum of squares of x
};

Slope slope_of(const std::vector<Point>& points) {
  const auto count = static_cast<double>(points.size());
  double x = 0, y = 0, xx = 0, xy = 0, off = 0;
  for (const Point& point : points) {
    x += point.x / count;
    y += point.y / count;
  }
  for (const Point& point : points) {
    xx += (point.x - x) * (point.x - x);
    xy += (point.x - x) * (point.y - y);
  }
  Slope slope{.percent = xy / xx, .spread = std::sqrt(xx)};
  for (const Point& point : points) {
    off += std::pow(point.y - y - slope.percent * (point.x - x), 2);
  }
  if (points.size() > 2) slope.deviation = std::sqrt(off / (count - 2));
  return slope;
}

struct Around {
  const spec::Experiment& experiment;
  std::size_t job = 0;
  const Asking& asking;
  Point here = {};
};

template <typename Change>
Slope slope_around(const Around& around, const Change& change) {
  std::vector<Point> points;
  const auto add = [&](double factor) {
    points.push_back(
        point_of(change(around.experiment, factor), around.job, around.asking, std::log(factor)));
  };
  add(kChange);
  add(1 / kChange);
  if (points[0].scatters || points[1].scatters) {
    add(std::sqrt(kChange));
    points.push_back(around.here);
  }
  return slope_of(points);
}

/// Of all points from their lines: four alone may lie on one by chance.
double deviation_of(const std::vector<Slope>& slopes) {
  double squares = 0;
  for (const Slope& slope : slopes) squares += slope.deviation * slope.deviation;
  return std::sqrt(squares / static_cast<double>(slopes.size()));
}

spec::Experiment with_compute(spec::Experiment experiment, double factor) {
  for (spec::Job& job : experiment.jobs) job.time_factor *= factor;
  return experiment;
}

/// `deviation`: of other steps from their lines.
std::optional<Elasticity> of_ranks(const Around& around, const Variants& variants,
                                   double deviation) {
  const int ranks = *around.experiment.jobs.front().ranks;
  const int more = std::max(ranks + 1, static_cast<int>(kChange * ranks));
  try {
    const spec::Experiment larger = variants(settings_for_ranks(around.experiment, more));
    const double x = std::log(static_cast<double>(*larger.jobs.front().ranks) / ranks);
    const double rise = point_of(larger, 0, around.asking, x).y - around.here.y;
    return Elasticity{
        .of = "ranks", .percent = rise / x, .error = kStudent * std::sqrt(2) * deviation / x};
  } catch (const SpecError&) {  // it cannot be laid out for that many
    return {};
  }
}

}  // namespace

std::vector<Elasticity> elasticities(const spec::Experiment& experiment, std::size_t job,
                                     const Variants& variants, const Asking& asking) {
  std::vector<Elasticity> found;
  const Around around{.experiment = experiment,
                      .job = job,
                      .asking = asking,
                      .here = point_of(experiment, job, asking, 0)};
  std::vector<Slope> slopes;
  const auto add = [&](const char* of, const auto& change) {
    slopes.push_back(slope_around(around, change));
    found.push_back({.of = of, .percent = slopes.back().percent});
  };
  add("bandwidth", with_rates);
  add("delay", with_delays);
  if (is_lossy(experiment.network)) add("loss", with_loss);
  const workload::Training training = workload::training_of(experiment, experiment.jobs[job]);
  if (training.compute.total() > Duration::zero()) add("compute", with_compute);
  const double deviation = deviation_of(slopes);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].error = kStudent * deviation / slopes[i].spread;
  }
  if (experiment.jobs.size() == 1 && variants) {
    if (const auto ranks = of_ranks(around, variants, deviation)) {
      found.push_back(*ranks);
    }
  }
  return found;
}

}  // namespace tw::forecast
