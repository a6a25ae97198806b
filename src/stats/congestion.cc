// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/congestion.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/distributions.h"
#include "trainwire/stats/saturation.h"
#include "trainwire/stats/weighted_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tw::stats {
namespace {

constexpr std::size_t kFewestLoads = 5;
constexpr double kDoubled = 2;
constexpr double kRisen = 1.25;
constexpr std::size_t kFewestRisen = 3;
constexpr std::size_t kMostTried = 256;
/// Sums of squared relative residuals below this are rounding errors.
constexpr double kRounding = 1e-18;
/// Probabilities of chance below which a bend, a slope of the first line, or a rise is believed.
/// Each slope that is believed wrongly costs the interval of the bend some of its coverage.
constexpr double kPresence = 0.01;
constexpr double kSlope = 0.01;
constexpr double kRise = 0.05;

using Columns = std::vector<std::vector<double>>;

/// Whether a line may rise.
enum class Shape { Level, Sloped };

/// The points that count, by rising r, with weights 1/t^2.
struct Window {
  std::vector<double> r = {};
  std::vector<double> t = {};
  std::vector<double> weight = {};
  std::vector<double> places = {};  ///< different values of r
  Shape first = Shape::Level;       ///< of the line before the bend

  bool sloped() const { return first == Shape::Sloped; }
  double freedom() const { return static_cast<double>(r.size()) - (sloped() ? 4 : 3); }
};

/// Two lines that meet at `place`.
struct Hinge {
  double place = 0;
  double level = 0;
  double slope = 0;
  double bend = 0;
  double ssr = std::numeric_limits<double>::infinity();
  double time_variance = 0;  ///< of time(), were the place known, for a residual variance of 1

  /// At the place itself.
  double time() const { return level + slope * (place - 1); }
  double at(double r) const { return level + slope * (r - 1) + bend * std::max(0.0, r - place); }
};

Window window_of(std::span<const double> loads, std::span<const double> times, double capacity) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return loads[a] < loads[b]; });
  const double base = *std::min_element(times.begin(), times.end());
  Window window;
  bool doubled = false;
  std::size_t risen = 0;
  for (const std::size_t i : order) {
    const double r = rescaled(loads[i], capacity);
    const bool is_new = window.places.empty() || r > window.places.back();
    if (is_new && doubled && risen >= kFewestRisen) break;
    if (is_new) {
      window.places.push_back(r);
      risen += times[i] > kRisen * base;
    }
    doubled = doubled || times[i] > kDoubled * base;
    window.r.push_back(r);
    window.t.push_back(times[i]);
    window.weight.push_back(1 / (times[i] * times[i]));
  }
  return window;
}

/// The best two lines that meet at a given place.
Hinge hinge_at(const Window& window, double place) {
  Columns columns{std::vector<double>(window.r.size(), 1)};
  if (window.sloped()) {
    columns.emplace_back();
    for (const double r : window.r) columns.back().push_back(r - 1);
  }
  columns.emplace_back();
  for (const double r : window.r) columns.back().push_back(std::max(0.0, r - place));
  const auto fit = weighted_fit(columns, window.t, window.weight);
  if (!fit) return {};
  const std::vector<double>& c = fit->covariance;
  const double run = place - 1;
  return {.place = place,
          .level = fit->parameters.front(),
          .slope = window.sloped() ? fit->parameters[1] : 0,
          .bend = fit->parameters.back(),
          .ssr = fit->ssr,
          .time_variance = window.sloped() ? c[0] + 2 * run * c[1] + run * run * c[4] : c[0]};
}

struct Line {
  double offset = 0;
  double slope = 0;
  double ssr = 0;
};

/// Through the points from `begin` to before `end`.
std::optional<Line> line_through(const Window& window, std::size_t begin, std::size_t end,
                                 Shape shape) {
  const auto part = [&](const std::vector<double>& all) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                               all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  Columns columns{std::vector<double>(end - begin, 1)};
  if (shape == Shape::Sloped) columns.push_back(part(window.r));
  const auto fit = weighted_fit(columns, part(window.t), part(window.weight));
  if (!fit) return {};
  return Line{.offset = fit->parameters[0],
              .slope = shape == Shape::Sloped ? fit->parameters[1] : 0,
              .ssr = fit->ssr};
}

/// Where the lines on either side of a gap meet, if that lies in the gap.
std::optional<double> meeting(const Window& window, double from, double to) {
  const auto split = static_cast<std::size_t>(
      std::upper_bound(window.r.begin(), window.r.end(), from) - window.r.begin());
  const auto left = line_through(window, 0, split, window.first);
  const auto right = line_through(window, split, window.r.size(), Shape::Sloped);
  if (!left || !right || left->slope == right->slope) return {};
  const double place = (left->offset - right->offset) / (right->slope - left->slope);
  if (place <= from || place >= to) return {};
  return place;
}

/// With two loads at least on either side. Thousands of loads are first tried sparsely, then all
/// around the best of those.
Hinge best_hinge(const Window& window) {
  Hinge best;
  std::size_t from = 1;
  std::size_t to = window.places.size() - 2;
  std::size_t nearest = from;
  const auto consider = [&](double place, std::size_t i) {
    const Hinge one = hinge_at(window, place);
    if (one.ssr >= best.ssr) return;
    best = one;
    nearest = i;
  };
  while (true) {
    const std::size_t stride = 1 + (to - from) / kMostTried;
    for (std::size_t i = from; i <= to; i += stride) {
      consider(window.places[i], i);
      if (stride > 1 || i == to) continue;
      if (const auto place = meeting(window, window.places[i], window.places[i + 1])) {
        consider(*place, i);
      }
    }
    if (stride == 1) return best;
    from = nearest > from + stride ? nearest - stride : from;
    to = std::min(to, nearest + stride);
  }
}

/// Weights from the fitted times: measured ones would favour whatever came out low.
void reweigh(Window& window, const Hinge& hinge) {
  for (std::size_t i = 0; i < window.r.size(); ++i) {
    const double fitted = hinge.at(window.r[i]);
    if (fitted > 0) window.weight[i] = 1 / (fitted * fitted);
  }
}

/// The probability that chance alone improves the residuals from `worse` to `better`.
double f_probability(double worse, double better, double more_parameters, double freedom) {
  if (worse <= better || worse < kRounding) return 1;
  if (better <= 0) return 0;
  const double f = (worse - better) / more_parameters / (better / freedom);
  return f_tail(more_parameters, freedom, f);
}

/// Lets the first line rise when the points say that it does.
Hinge with_slope_if_needed(Window& window, const Hinge& level) {
  Window sloped = window;
  sloped.first = Shape::Sloped;
  if (sloped.freedom() < 1) return level;
  const Hinge other = best_hinge(sloped);
  if (f_probability(level.ssr, other.ssr, 1, sloped.freedom()) > kSlope) return level;
  window.first = Shape::Sloped;
  return other;
}

void widen(Estimate& estimate, double value) {
  estimate.low = std::min(estimate.low, value);
  estimate.high = std::max(estimate.high, value);
}

/// All that hangs on where the bend is.
void widen(CongestionPoint& point, const Hinge& hinge, double capacity) {
  const double left = capacity / hinge.place;
  widen(point.load, capacity - left);
  widen(point.time, hinge.time());
  widen(point.volume, left * hinge.time());
}

/// Adds an independent error to an interval.
void blur(Estimate& estimate, double half) {
  estimate.low = estimate.value - std::hypot(estimate.value - estimate.low, half);
  estimate.high = estimate.value + std::hypot(estimate.high - estimate.value, half);
}

Estimate estimate_of(double value, double confidence, std::size_t n) {
  return {.value = value, .low = value, .high = value, .confidence = confidence, .n = n};
}

/// How residuals grow away from the best place, and how far they may.
struct Profile {
  const Window& window;
  const Hinge& best;
  double limit;
  double capacity;
};

/// Walks away from the best place until the residuals are worse than `limit` for good, and takes
/// the last place where they are not.
void widen_towards(CongestionPoint& point, const Profile& profile, double end) {
  const auto& [window, best, limit, capacity] = profile;
  constexpr int kSteps = 64;
  double inside = best.place;
  double outside = end;
  for (int i = 1; i <= kSteps; ++i) {
    const double place = best.place + (end - best.place) * i / kSteps;
    const Hinge hinge = hinge_at(window, place);
    if (hinge.ssr > limit) {
      if (outside == end) outside = place;
      continue;
    }
    widen(point, hinge, capacity);
    inside = place;
    outside = end;
  }
  for (int i = 0; i < 30 && inside != end; ++i) {
    const double middle = (inside + outside) / 2;
    const Hinge hinge = hinge_at(window, middle);
    (hinge.ssr > limit ? outside : inside) = middle;
    if (hinge.ssr <= limit) widen(point, hinge, capacity);
  }
}

CongestionPoint with_interval(const Window& window, const Hinge& best,
                              const CongestionOptions& options) {
  const double left = options.capacity / best.place;
  const auto exact = [&](double value) {
    return estimate_of(value, options.confidence, window.r.size());
  };
  CongestionPoint point{.load = exact(options.capacity - left),
                        .time = exact(best.time()),
                        .volume = exact(left * best.time()),
                        .points = window.r.size(),
                        .window_to = options.capacity - options.capacity / window.places.back()};
  const double f = f_quantile(1, window.freedom(), options.confidence);
  const Profile profile{.window = window,
                        .best = best,
                        .limit = best.ssr * (1 + f / window.freedom()),
                        .capacity = options.capacity};
  // At the very last load the bend has no point left to rise to.
  const double last = window.places.back() - 1e-9 * (window.places.back() - best.place);
  widen_towards(point, profile, window.places.front());
  widen_towards(point, profile, last);
  const double half = std::sqrt(f * best.ssr / window.freedom() * best.time_variance);
  blur(point.time, half);
  blur(point.volume, left * half);
  return point;
}

}  // namespace

std::string_view sentence(NoPoint reason) {
  switch (reason) {
    case NoPoint::None:
      return "there is one";
    case NoPoint::TooFew:
      return "too few loads to tell: it takes five different ones around it";
    case NoPoint::Flat:
      return "times do not rise: the load stayed below it";
    case NoPoint::Straight:
      return "times rise from the first load on, in one line over C/(C-x)";
  }
  return {};
}

CongestionSearch find_congestion(std::span<const double> loads, std::span<const double> times,
                                 const CongestionOptions& options) {
  check(loads.size() == times.size(), "each load has a time");
  if (loads.empty()) return {.reason = NoPoint::TooFew};
  Window window = window_of(loads, times, options.capacity);
  if (window.places.size() < kFewestLoads) return {.reason = NoPoint::TooFew};
  reweigh(window, best_hinge(window));
  const Hinge best = with_slope_if_needed(window, best_hinge(window));
  const auto line = line_through(window, 0, window.r.size(), Shape::Sloped);
  const auto level = line_through(window, 0, window.r.size(), Shape::Level);
  const auto freedom = static_cast<double>(window.r.size()) - 2;
  const double chance =
      f_probability(line->ssr, best.ssr, window.sloped() ? 2 : 1, window.freedom());
  if (chance > kPresence || best.bend <= 0) {
    const bool rises = line->slope > 0 && f_probability(level->ssr, line->ssr, 1, freedom) < kRise;
    return {.reason = rises ? NoPoint::Straight : NoPoint::Flat};
  }
  return {.point = with_interval(window, best, options)};
}

}  // namespace tw::stats
