// SPDX-License-Identifier: Apache-2.0
#include "trainwire/keys/range.h"

#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tw::keys {
namespace {

constexpr int kMostValues = 10'000;
/// Of a step: what rounding may take away from the last value.
constexpr double kSlack = 1e-9;

struct Quantity {
  double number = 0;
  bool is_whole = true;
  std::string unit = {};
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// A number and what follows it, up to a blank.
std::optional<Quantity> quantity_of(std::string_view text) {
  Quantity quantity;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), quantity.number);
  if (error != std::errc() || !std::isfinite(quantity.number)) return {};
  const std::string_view digits(text.data(), static_cast<std::size_t>(rest - text.data()));
  quantity.is_whole = digits.find_first_of(".eE") == digits.npos;
  quantity.unit = std::string(trimmed(text.substr(digits.size())));
  if (quantity.unit.find_first_of(" .,0123456789") != std::string::npos) return {};
  return quantity;
}

/// "100Mbit..1Gbit x2" in its three parts; "2..8" has no last one. A first number that ends with a
/// point takes none of the two.
struct Parts {
  std::string_view from;
  std::string_view to;
  std::string_view how;
};
std::optional<Parts> parts_of(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos) return {};
  Parts parts{
      .from = trimmed(text.substr(0, dots)), .to = trimmed(text.substr(dots + 2)), .how = {}};
  if (const std::size_t blank = parts.to.find(' '); blank != parts.to.npos) {
    parts.how = trimmed(parts.to.substr(blank));
    parts.to = parts.to.substr(0, blank);
  }
  return parts;
}

/// How many of `to` one of `from` is; nothing when they are of different kinds.
std::optional<double> factor(const std::string& from, const std::string& to) {
  if (from == to || from.empty()) return 1;
  const auto ratio = [&](const auto& parse, const auto& number) -> std::optional<double> {
    const auto a = parse("1" + from), b = parse("1" + to);
    if (!a || !b) return {};
    return static_cast<double>(number(*a)) / static_cast<double>(number(*b));
  };
  if (const auto r = ratio(parse_rate, [](BitRate v) { return v.bits_per_second(); })) return r;
  if (const auto r = ratio(parse_bytes, [](Bytes v) { return v.count(); })) return r;
  return ratio(parse_duration, [](Duration v) { return v.count(); });
}

/// Fifteen digits: what a user would have written.
Node node_of(double number, bool is_whole, const std::string& unit, Place place) {
  if (!unit.empty()) return {.value = fmt::format("{:.15g}{}", number, unit), .place = place};
  if (is_whole) return {.value = static_cast<std::int64_t>(std::llround(number)), .place = place};
  const std::string text = fmt::format("{:.15g}", number);
  double shown = number;
  std::from_chars(text.data(), text.data() + text.size(), shown);
  return {.value = shown, .place = place};
}

/// The range with both ends in one unit.
struct Ends {
  double from;
  double to;
  bool is_whole;
  std::string unit;
};

class Expansion {
 public:
  Expansion(const Ends& ends, Place place) : ends_(ends), place_(place) {}

  /// from, from + step, ...
  Range steps(double step, bool step_is_whole) {
    if (!(step > 0)) return refused("the step must be above 0");
    const double count = std::floor((ends_.to - ends_.from) / step + kSlack);
    if (!(count < kMostValues)) return too_many();
    for (int i = 0; i <= static_cast<int>(count); ++i) {
      add(ends_.from + step * i, ends_.is_whole && step_is_whole);
    }
    return std::move(range_);
  }

  /// from, from * by, ...
  Range factors(double by, bool by_is_whole) {
    if (!(by > 1)) return refused("the factor must be above 1");
    if (!(ends_.from > 0)) return refused("a range by factors begins above 0");
    for (int i = 0; i < kMostValues; ++i) {
      const double value = ends_.from * std::pow(by, i);
      if (value > ends_.to * (1 + kSlack)) return std::move(range_);
      add(value, ends_.is_whole && by_is_whole);
    }
    return too_many();
  }

  Range evenly(int count, bool by_factors) {
    if (count < 2 || count >= kMostValues) return refused("a range has 2 to 9,999 values");
    if (by_factors && !(ends_.from > 0)) return refused("a range by factors begins above 0");
    for (int i = 0; i < count; ++i) {
      const double share = static_cast<double>(i) / (count - 1);
      add(by_factors ? ends_.from * std::pow(ends_.to / ends_.from, share)
                     : ends_.from + (ends_.to - ends_.from) * share,
          false);
    }
    return std::move(range_);
  }

 private:
  void add(double number, bool is_whole) {
    const bool whole = is_whole || (ends_.is_whole && number == std::floor(number));
    range_.values.push_back(node_of(number, whole, ends_.unit, place_));
  }
  static Range refused(std::string why) { return {.problem = std::move(why)}; }
  static Range too_many() { return refused("has too many values; take larger steps"); }

  Ends ends_;
  Place place_;
  Range range_ = {};
};

constexpr const char* kHow =
    "say how to go on: \"A..B x2\", \"A..B step 0.1\", \"A..B in 5\" or \"A..B in 5 log\"";

std::optional<int> count_of(std::string_view text) {
  int count = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || rest != text.data() + text.size()) return {};
  return count;
}

Range expanded(const Ends& ends, std::string_view how, Place place) {
  Expansion expansion(ends, place);
  if (how.empty() && ends.is_whole && ends.unit.empty()) return expansion.steps(1, true);
  if (how.starts_with('x')) {
    const auto by = quantity_of(trimmed(how.substr(1)));
    if (by && by->unit.empty()) return expansion.factors(by->number, by->is_whole);
  }
  if (how.starts_with("step ")) {
    const auto step = quantity_of(trimmed(how.substr(5)));
    const auto scale = step ? factor(step->unit, ends.unit) : std::nullopt;
    if (scale) return expansion.steps(step->number * *scale, step->is_whole);
  }
  if (how.starts_with("in ")) {
    std::string_view rest = trimmed(how.substr(3));
    const bool by_factors = rest.ends_with(" log");
    if (by_factors) rest = trimmed(rest.substr(0, rest.size() - 4));
    if (const auto count = count_of(rest)) return expansion.evenly(*count, by_factors);
  }
  return {.problem = kHow};
}

}  // namespace

bool is_range(std::string_view text) {
  const auto parts = parts_of(text);
  return parts && quantity_of(parts->from) && quantity_of(parts->to);
}

Range expand_range(std::string_view text, Place place) {
  const Parts parts = *parts_of(text);
  const Quantity from = *quantity_of(parts.from), to = *quantity_of(parts.to);
  const std::string unit = from.unit.empty() ? to.unit : from.unit;
  const auto scale = factor(to.unit, unit);
  if (!scale || (to.unit.empty() && !unit.empty())) {
    return {.problem = fmt::format("the ends have different units, {} and {}; write both in one",
                                   from.unit, to.unit.empty() ? "none" : to.unit)};
  }
  const Ends ends{.from = from.number,
                  .to = to.number * *scale,
                  .is_whole = from.is_whole && to.is_whole,
                  .unit = unit};
  if (!(ends.from < ends.to))
    return {.problem = "ends where it begins, or before; write A..B with A below B"};
  return expanded(ends, parts.how, place);
}

}  // namespace tw::keys
