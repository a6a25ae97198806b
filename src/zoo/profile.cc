// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/profile.h"

#include "trainwire/base/error.h"
#include "trainwire/zoo/profile_tables.h"
#include "trainwire/zoo/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

namespace tw::zoo {
namespace {

/// Beyond it nobody measured, and sums could not be counted.
constexpr double kLongestMs = 1e12;
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

/// A table of plain fields with a header, one row at a time.
class Table {
 public:
  Table(std::string_view text, std::string_view path) : rest_(text), path_(path) {
    if (!next()) refuse("is empty; it needs a header with elements and ready_ms");
    names_ = std::exchange(fields_, {});
  }

  /// Goes on to the next row. False at the end.
  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = trimmed(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      if (line.empty() || line.front() == '#') continue;
      split(line);
      return true;
    }
    return false;
  }

  std::optional<std::size_t> column(std::string_view name) const {
    const auto at = std::ranges::find(names_, name);
    if (at == names_.end()) return {};
    return static_cast<std::size_t>(at - names_.begin());
  }

  std::string_view text(std::size_t column) const {
    if (column >= fields_.size()) refuse("has fewer fields than the header");
    return fields_[column];
  }

  double number(std::size_t column, double most) const {
    const std::string_view field = text(column);
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || !(value >= 0) ||
        value > most) {
      refuse(
          fmt::format("\"{}\" is no {} from 0 to {:g}", field.substr(0, 40), names_[column], most));
    }
    return value;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    throw DataError(fmt::format("{}: line {}: {}", path_, line_, what));
  }

 private:
  void split(std::string_view line) {
    fields_.clear();
    for (;;) {
      const std::size_t comma = line.find(',');
      fields_.push_back(trimmed(line.substr(0, comma)));
      if (comma == std::string_view::npos) return;
      line.remove_prefix(comma + 1);
    }
  }

  std::string_view rest_;
  std::string_view path_;
  int line_ = 0;
  std::vector<std::string_view> names_;
  std::vector<std::string_view> fields_;
};

Duration from_ms(double ms) { return from_seconds(ms / 1e3); }

/// Whether two names mean one architecture, whoever's variant.
class SameModel {
 public:
  explicit SameModel(std::string_view model) : wanted_(architecture(model)) {}
  bool operator()(std::string_view name) {
    if (name == last_) return same_;
    last_ = name;
    return same_ = architecture(name) == wanted_;
  }

 private:
  static std::string architecture(std::string_view name) {
    const std::optional<Model> found = find(name);
    return std::string(short_name(found ? std::string_view(found->name) : name));
  }
  std::string wanted_;
  std::string last_;
  bool same_ = false;
};

struct Unit {
  std::string_view column;
  double ms;
};

std::pair<std::size_t, double> ready_column(const Table& table) {
  for (const Unit& unit : {Unit{"ready_ms", 1}, Unit{"ready_us", 1e-3}, Unit{"ready_s", 1e3}}) {
    if (const auto column = table.column(unit.column)) return {*column, unit.ms};
  }
  table.refuse("there is no column ready_ms (or ready_us, ready_s) in the header");
}

Profile scaled(const Profile& profile, double factor) {
  const auto times = [&](Duration time) { return from_seconds(seconds(time) * factor); };
  return {.forward = times(profile.forward),
          .backward = times(profile.backward),
          .optimizer = profile.optimizer};
}

/// On the line between the two batches next to it.
Profile between(const std::map<int, Profile>& measured, int batch) {
  if (measured.size() == 1) {
    const auto& [only, profile] = *measured.begin();
    return scaled(profile, static_cast<double>(batch) / only);
  }
  auto above = measured.lower_bound(batch);
  if (above == measured.end()) --above;
  if (above == measured.begin()) ++above;
  const auto& [b1, p1] = *above;
  const auto& [b0, p0] = *std::prev(above);
  const double at = static_cast<double>(batch - b0) / (b1 - b0);
  const auto line = [at](Duration t0, Duration t1) {
    // A step has a least time, that of starting its kernels: half of the smallest measured.
    const double time = seconds(t0) + (seconds(t1) - seconds(t0)) * at;
    return from_seconds(std::max(time, seconds(t0) / 2));
  };
  return {.forward = line(p0.forward, p1.forward),
          .backward = line(p0.backward, p1.backward),
          .optimizer = line(p0.optimizer, p1.optimizer)};
}

std::map<int, Profile> measured_steps(std::string_view model, std::string_view device) {
  Table table(step_table(), "h200_steps.csv");
  std::map<int, Profile> found;
  while (table.next()) {
    if (table.text(0) != model || table.text(1) != device) continue;
    found[static_cast<int>(table.number(2, 1e6))] = {
        .forward = from_ms(table.number(3, kLongestMs)),
        .backward = from_ms(table.number(4, kLongestMs)),
        .optimizer = from_ms(table.number(5, kLongestMs))};
  }
  return found;
}

/// The last gradient ends backward.
void stretch(std::vector<Gradient>& gradients, Duration backward) {
  if (gradients.empty() || gradients.back().ready <= Duration{}) return;
  const double factor = seconds(backward) / seconds(gradients.back().ready);
  for (Gradient& gradient : gradients)
    gradient.ready = from_seconds(seconds(gradient.ready) * factor);
}

}  // namespace

std::int64_t Profile::elements() const {
  return std::accumulate(gradients.begin(), gradients.end(), std::int64_t{0},
                         [](std::int64_t sum, const Gradient& g) { return sum + g.elements; });
}

std::optional<Profile> find_profile(std::string_view model, std::string_view device, int batch) {
  check(batch >= 1, "a step has at least one sample");
  const std::map<int, Profile> measured = measured_steps(model, device);
  if (measured.empty()) return {};
  Profile profile = between(measured, batch);
  profile.gradients = parse_gradients(gradient_table(), "h200_gradients.csv", model, batch);
  stretch(profile.gradients, profile.backward);
  return profile;
}

std::vector<Gradient> parse_gradients(std::string_view text, std::string_view path,
                                      std::string_view model, int batch) {
  Table table(text, path);
  const auto elements = table.column("elements");
  if (!elements) table.refuse("there is no column elements in the header");
  const auto [ready, unit_ms] = ready_column(table);
  const auto model_column = table.column("model");
  const auto batch_column = table.column("batch");
  SameModel is_ours(model);
  std::map<double, std::vector<Gradient>> by_batch;
  std::int64_t sum = 0;
  while (table.next()) {
    if (model_column && !is_ours(table.text(*model_column))) continue;
    const double its_batch = batch_column ? table.number(*batch_column, 1e9) : batch;
    const double count = table.number(*elements, static_cast<double>(kMostElements));
    sum += static_cast<std::int64_t>(count);
    if (sum > kMostElements) table.refuse("there are more gradients than any model has");
    by_batch[its_batch].push_back({.elements = static_cast<std::int64_t>(count),
                                   .ready = from_ms(table.number(ready, kLongestMs) * unit_ms)});
  }
  if (by_batch.empty()) {
    throw DataError(fmt::format("{}: there is no gradient of model {} in it", path, model));
  }
  const auto next = std::ranges::min_element(
      by_batch, {}, [&](const auto& entry) { return std::abs(entry.first - batch); });
  std::vector<Gradient> found = std::move(next->second);
  std::ranges::stable_sort(found, {}, &Gradient::ready);
  return found;
}

}  // namespace tw::zoo
