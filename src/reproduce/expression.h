// SPDX-License-Identifier: Apache-2.0
// Arithmetic that an artefact writes down: equations of a paper, ratios of two simulated steps,
// claims about an order.
//
//   "2 * (n - 1) / n * parameters * 4 / 1e6"       numbers and names
//   "at(step, 4) / at(step, 0)"                    a computed list, item by item from 0
//   "rising(step) and at(step, 2) > 2 * at(step, 0)"
//
// Every value is a list of numbers; one of a single number goes with a list of any length, item by
// item. A claim (<, <=, >, >=, and) is 1 where it holds for every item and 0 otherwise. Functions of
// one list: abs, sqrt, exp, ln, min, max, sum, mean, deviation, count, rising, falling. Of two: at
// (an item, from 0), larger and smaller (item by item), quantile, slope, r2, correlation. Of loads,
// times, capacity and n: fit_a, fit_b, fit_r2 (stats/saturation.h); of loads, times and capacity:
// congestion_load, congestion_time (stats/congestion.h).

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tw::reproduce {

using Values = std::vector<double>;
/// What a name stands for. Throws DataError where it has no value.
using Lookup = std::function<const Values&(const std::string& name)>;

class Expression {
 public:
  /// What is written between names and signs; opaque outside expression.cc.
  struct Node;

  /// Throws SpecError that says what is wrong with the text, without file and line.
  explicit Expression(std::string text);

  const std::string& text() const { return text_; }
  /// Names it uses, in order, each once.
  const std::vector<std::string>& names() const { return names_; }

  /// Throws DataError where there is no answer: lists of different lengths, an item that is not
  /// there, points that cannot be fitted.
  Values evaluate(const Lookup& lookup) const;

 private:
  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<const Node> root_;  // shared: expressions are copied with their artefacts
};

/// The one number that it is. Throws DataError for a list of several, or none.
double single(const Values& values, std::string_view what);

}  // namespace tw::reproduce
