// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/functions.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/congestion.h"
#include "trainwire/stats/ols.h"
#include "trainwire/stats/quantile.h"
#include "trainwire/stats/saturation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace tw::reproduce {
namespace {

using Arguments = std::span<const Values>;

void require_some(const Values& values, std::string_view function) {
  if (values.empty()) throw DataError(fmt::format("{}: an empty list has none", function));
}

template <double (*Each)(double)>
Values each(Arguments arguments) {
  Values result = arguments[0];
  for (double& value : result) value = Each(value);
  return result;
}

Values smallest(Arguments arguments) {
  require_some(arguments[0], "min");
  return {*std::min_element(arguments[0].begin(), arguments[0].end())};
}

Values largest(Arguments arguments) {
  require_some(arguments[0], "max");
  return {*std::max_element(arguments[0].begin(), arguments[0].end())};
}

/// Item by item, the one that `wins`; a single number goes with every item.
template <typename Wins>
Values chosen(Arguments arguments, std::string_view function, Wins wins) {
  const Values& a = arguments[0];
  const Values& b = arguments[1];
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) {
    throw DataError(fmt::format("{} of {} values and {}", function, a.size(), b.size()));
  }
  Values result;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const double one = a[a.size() == 1 ? 0 : i];
    const double other = b[b.size() == 1 ? 0 : i];
    result.push_back(wins(one, other) ? one : other);
  }
  return result;
}

Values larger(Arguments arguments) { return chosen(arguments, "larger", std::greater<>()); }
Values smaller(Arguments arguments) { return chosen(arguments, "smaller", std::less<>()); }

double sum_of(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

Values sum(Arguments arguments) { return {sum_of(arguments[0])}; }

double mean_of(const Values& values) { return sum_of(values) / static_cast<double>(values.size()); }

Values mean(Arguments arguments) {
  require_some(arguments[0], "mean");
  return {mean_of(arguments[0])};
}

/// Of a sample, over n - 1.
Values deviation(Arguments arguments) {
  const Values& values = arguments[0];
  if (values.size() < 2) throw DataError("deviation: it takes two values at least");
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {std::sqrt(squares / static_cast<double>(values.size() - 1))};
}

Values count(Arguments arguments) { return {static_cast<double>(arguments[0].size())}; }

Values at(Arguments arguments) {
  const double index = single(arguments[1], "at");
  if (!(index >= 0) || index >= static_cast<double>(arguments[0].size())) {
    throw DataError(fmt::format("at: there is no item {} of {}", index, arguments[0].size()));
  }
  return {arguments[0][static_cast<std::size_t>(index)]};
}

Values rising(Arguments arguments) {
  const Values& values = arguments[0];
  return {std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end()
              ? 1.0
              : 0.0};
}

Values falling(Arguments arguments) {
  const Values& values = arguments[0];
  return {std::adjacent_find(values.begin(), values.end(), std::less_equal<>()) == values.end()
              ? 1.0
              : 0.0};
}

Values quantile(Arguments arguments) {
  require_some(arguments[0], "quantile");
  const double p = single(arguments[1], "quantile");
  if (!(p >= 0 && p <= 1)) throw DataError("quantile: takes a share from 0 to 1");
  return {stats::quantile(arguments[0], p)};
}

void require_alike(Arguments arguments, std::string_view function) {
  if (arguments[0].size() != arguments[1].size()) {
    throw DataError(fmt::format("{}: {} values against {}", function, arguments[0].size(),
                                arguments[1].size()));
  }
}

stats::OlsFit line_through(Arguments arguments, std::string_view function) {
  require_alike(arguments, function);
  stats::Design design;
  design.add("x", arguments[0]);
  return stats::ols(design, arguments[1]);
}

Values slope(Arguments arguments) {
  return {line_through(arguments, "slope").coefficients[1].value.value};
}

Values r_squared(Arguments arguments) { return {line_through(arguments, "r2").r_squared}; }

Values correlation(Arguments arguments) {
  const stats::OlsFit line = line_through(arguments, "correlation");
  return {std::copysign(std::sqrt(line.r_squared), line.coefficients[1].value.value)};
}

/// Loads below the capacity and times above 0, as many of the one as of the other.
void require_curve(Arguments arguments, std::string_view function) {
  require_alike(arguments, function);
  const double capacity = single(arguments[2], "the capacity");
  const bool is_capacity = std::isfinite(capacity) && capacity > 0;
  const auto is_load = [&](double x) { return std::isfinite(x) && x >= 0 && x < capacity; };
  const auto is_time = [](double t) { return std::isfinite(t) && t > 0; };
  if (is_capacity && std::all_of(arguments[0].begin(), arguments[0].end(), is_load) &&
      std::all_of(arguments[1].begin(), arguments[1].end(), is_time)) {
    return;
  }
  throw DataError(
      fmt::format("{}: loads must lie from 0 to below the capacity, times above 0", function));
}

stats::SaturationFit saturation(Arguments arguments) {
  require_curve(arguments, "fit");
  const double n = single(arguments[3], "fit: n");
  if (!(n > 0 && n <= 8)) throw DataError("fit: n must lie above 0 and be 8 at most");
  return stats::fit_saturation(arguments[0], arguments[1],
                               {.capacity = single(arguments[2], "fit: the capacity"),
                                .exponent = stats::Exponent::Fixed,
                                .fixed = n});
}

Values fit_a(Arguments arguments) { return {saturation(arguments).a.value}; }
Values fit_b(Arguments arguments) { return {saturation(arguments).b.value}; }
Values fit_r2(Arguments arguments) { return {saturation(arguments).r_squared}; }

stats::CongestionPoint congestion(Arguments arguments) {
  require_curve(arguments, "congestion");
  const stats::CongestionSearch found = stats::find_congestion(
      arguments[0], arguments[1], {.capacity = single(arguments[2], "congestion: the capacity")});
  if (!found.point) {
    throw DataError(fmt::format("no congestion point: {}", stats::sentence(found.reason)));
  }
  return *found.point;
}

Values congestion_load(Arguments arguments) { return {congestion(arguments).load.value}; }
Values congestion_time(Arguments arguments) { return {congestion(arguments).time.value}; }

constexpr std::array kFunctions{
    Function{"abs", 1, each<std::fabs>},
    Function{"sqrt", 1, each<std::sqrt>},
    Function{"exp", 1, each<std::exp>},
    Function{"ln", 1, each<std::log>},
    Function{"min", 1, smallest},
    Function{"max", 1, largest},
    Function{"larger", 2, larger},
    Function{"smaller", 2, smaller},
    Function{"sum", 1, sum},
    Function{"mean", 1, mean},
    Function{"deviation", 1, deviation},
    Function{"count", 1, count},
    Function{"at", 2, at},
    Function{"rising", 1, rising},
    Function{"falling", 1, falling},
    Function{"quantile", 2, quantile},
    Function{"slope", 2, slope},
    Function{"r2", 2, r_squared},
    Function{"correlation", 2, correlation},
    Function{"fit_a", 4, fit_a},
    Function{"fit_b", 4, fit_b},
    Function{"fit_r2", 4, fit_r2},
    Function{"congestion_load", 3, congestion_load},
    Function{"congestion_time", 3, congestion_time},
};

}  // namespace

std::span<const Function> functions() { return kFunctions; }

const Function* find_function(std::string_view name) {
  const auto found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                  [&](const Function& each) { return each.name == name; });
  return found == kFunctions.end() ? nullptr : &*found;
}

}  // namespace tw::reproduce
