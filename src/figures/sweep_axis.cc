// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/sweep_axis.h"

#include "trainwire/figures/figure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tw::figures {
namespace {

using report::Quantity;

constexpr double kDecades = 20;  ///< from this ratio on an axis is logarithmic
constexpr std::size_t kMostTics = 12;
constexpr std::size_t kTicCharacters = 50;  ///< that fit beside each other

std::size_t count_of(const report::SweptAxis& axis) {
  std::set<std::string> texts;
  for (const report::SweptValue& value : axis.values) texts.insert(value.text);
  return texts.size();
}

ShownUnit rate_unit(double largest_bps) {
  if (largest_bps >= 1e9) return {"Gbit/s", 1e-9};
  return largest_bps >= 1e6 ? ShownUnit{"Mbit/s", 1e-6} : ShownUnit{"kbit/s", 1e-3};
}

ShownUnit unit_of(Quantity quantity, double largest) {
  switch (quantity) {
    case Quantity::Share:
      return {"%", 100};
    case Quantity::Rate:
      return rate_unit(largest);
    case Quantity::Time:
      return time_unit(largest);
    case Quantity::Size:
      return byte_unit(largest);
    case Quantity::Number:
    case Quantity::Word:
      break;
  }
  return {"", 1};
}

/// The text of each place, from left to right.
std::map<double, std::string> tics_of(const SweepAxis& axis) {
  std::map<double, std::string> tics;
  if (axis.swept == nullptr) return tics;
  for (std::size_t i = 0; i < axis.swept->values.size(); ++i) {
    const report::SweptValue& value = axis.swept->values[i];
    tics[axis.x(i)] = axis.swept->quantity == Quantity::Word
                          ? value.text
                          : fmt::format("{:.6g}", value.number.value_or(0) * axis.per_base);
  }
  return tics;
}

}  // namespace

double SweepAxis::place_of(double value) const {
  return is_log && value <= 0 ? zero_at : value * per_base;
}

double SweepAxis::x(std::size_t point) const {
  if (swept == nullptr) return static_cast<double>(point);
  if (swept->quantity != Quantity::Word) {
    return place_of(swept->values[point].number.value_or(0));
  }
  std::vector<std::string> words;
  for (const report::SweptValue& value : swept->values) {
    if (std::find(words.begin(), words.end(), value.text) == words.end()) {
      words.push_back(value.text);
    }
  }
  return static_cast<double>(std::find(words.begin(), words.end(), swept->values[point].text) -
                             words.begin());
}

bool is_load_key(std::string_view key) {
  return key.starts_with("traffic.") && key.ends_with("load");
}

SweepAxis over_numbers(const report::SweptAxis& swept) {
  std::set<double> positive;
  double least = INFINITY, largest = -INFINITY;
  for (const report::SweptValue& value : swept.values) {
    const double number = value.number.value_or(0);
    least = std::min(least, number);
    largest = std::max(largest, number);
    if (number > 0) positive.insert(number);
  }
  const ShownUnit unit = unit_of(swept.quantity, largest);
  SweepAxis axis{.swept = &swept, .label = swept.label, .per_base = unit.scale};
  if (!unit.name.empty()) axis.label += fmt::format(" ({})", unit.name);
  if (positive.size() < 2 || least < 0) return axis;
  const double ratio = *positive.rbegin() / *positive.begin();
  axis.is_log = ratio >= kDecades;
  // As far from the least as the others are from one another.
  const double gap = std::pow(ratio, 1 / static_cast<double>(positive.size() - 1));
  axis.zero_at = *positive.begin() * axis.per_base / std::max(2.0, gap);
  return axis;
}

SweepAxis axis_over(const std::vector<report::SweptAxis>& axes, bool loads_known) {
  const report::SweptAxis* chosen = nullptr;
  const auto is_better = [&](const report::SweptAxis& axis) {
    if (chosen == nullptr) return true;
    const bool words = axis.quantity == Quantity::Word;
    const bool had_words = chosen->quantity == Quantity::Word;
    return words == had_words ? count_of(axis) > count_of(*chosen) : had_words;
  };
  for (const report::SweptAxis& axis : axes) {
    if (is_load_key(axis.key) && loads_known) {
      return {.swept = &axis, .label = "cross traffic (Gbit/s)", .is_load = true};
    }
    if (is_better(axis)) chosen = &axis;
  }
  if (chosen == nullptr) return {.label = "point of the sweep"};
  if (chosen->quantity == Quantity::Word) return {.swept = chosen, .label = chosen->label};
  return over_numbers(*chosen);
}

std::vector<std::string> axis_lines(const SweepAxis& axis, std::size_t points) {
  std::vector<std::string> lines;
  if (axis.is_log) lines.emplace_back("set logscale x");
  const std::map<double, std::string> places =
      axis.is_load ? std::map<double, std::string>() : tics_of(axis);
  if (places.empty() || places.size() > kMostTics || points == 0) {
    lines.emplace_back("set xtics auto");
    return lines;
  }
  std::vector<std::string> tics;
  std::size_t characters = 0;
  for (const auto& [at, text] : places) {
    tics.push_back(fmt::format("{} {:.6g}", gnuplot_tic(text), at));
    characters += text.size() + 3;
  }
  lines.push_back(fmt::format("set xtics ({}){}", fmt::join(tics, ", "),
                              characters > kTicCharacters ? " rotate by -40" : ""));
  return lines;
}

}  // namespace tw::figures
