// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/fit_series.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace tw::study {
namespace {

constexpr std::string_view kLoad = "traffic_achieved_bps";
constexpr std::string_view kAsked = "traffic_requested_bps";
constexpr std::array<std::string_view, 3> kTails{"step_p99_s", "p99_s", "p99"};
/// Below this share of what was asked for, a note says so.
constexpr double kReached = 0.9;

struct Suffix {
  std::string_view ending;
  std::string_view unit;
  double base;
};
constexpr std::array kSuffixes{
    Suffix{"_gbps", "Gbit/s", 1e9}, Suffix{"_mbps", "Mbit/s", 1e6}, Suffix{"_kbps", "kbit/s", 1e3},
    Suffix{"_bps", "bit/s", 1},     Suffix{"_bytes", "bytes", 1},   Suffix{"_ms", "ms", 1e-3},
    Suffix{"_us", "us", 1e-6},      Suffix{"_ns", "ns", 1e-9},      Suffix{"_s", "s", 1},
};

FitModel model_named(const std::string& name) {
  for (const FitModel model :
       {FitModel::Saturation, FitModel::Ols, FitModel::AlphaBeta, FitModel::Linear, FitModel::Power,
        FitModel::Inverse, FitModel::Log}) {
    if (name_of(model) == name) return model;
  }
  throw SpecError(fmt::format("--model: there is no \"{}\"", name));
}

FitModel default_model(const FitTable& table) {
  if (table.is_sweep) return FitModel::Saturation;
  if (table.find("bytes") && table.find("time_s")) return FitModel::AlphaBeta;
  throw SpecError(
      fmt::format("--model: {} is no sweep; say which to fit: saturation, linear, ols or alphabeta",
                  table.name));
}

bool is_categorical(const FitTable& table, const std::string& column) {
  const std::size_t at = *table.find(column);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (!table.rows[row][at].empty() && !table.number(row, at)) return true;
  }
  return false;
}

/// What the source itself suggests; "" when nothing.
std::string default_x(const FitTable& table, FitModel model) {
  if (model == FitModel::AlphaBeta) return "bytes";
  if (table.is_sweep) return std::string(kLoad);
  return table.header.size() == 2 ? table.header[0] : "";
}
std::string default_y(const FitTable& table, FitModel model) {
  if (model == FitModel::AlphaBeta) return "time_s";
  if (table.is_sweep) return "step_mean_s";
  return table.header.size() == 2 ? table.header[1] : "";
}

std::string required(const FitTable& table, std::string column, std::string_view option) {
  if (column.empty()) {
    throw SpecError(fmt::format("{}: say which column of {}", option, table.name));
  }
  static_cast<void>(table.column(column, option));
  return column;
}

bool is_load_setting(const std::string& key) {
  return key.starts_with("traffic.") && key.ends_with(".load");
}

/// Of a sweep: whatever else was varied. Seeds are repeats of the same point.
std::vector<std::string> default_by(const FitTable& table, const FitColumns& columns) {
  std::vector<std::string> by;
  const bool loads = columns.x.front().starts_with("traffic_");
  for (const std::string& key : table.settings) {
    const bool is_x = std::find(columns.x.begin(), columns.x.end(), key) != columns.x.end();
    if (is_x || key == columns.y || key == "run.seed" || (loads && is_load_setting(key))) continue;
    by.push_back(key);
  }
  return by;
}

bool is_rate_or_size(std::string_view column) {
  return column.ends_with("_bps") || column.ends_with("_bytes");
}

double row_scale(const FitTable& table, const std::vector<std::string>& row) {
  const auto at = table.is_sweep ? table.find("scale") : std::nullopt;
  const double scale = at ? number_in(row[*at]).value_or(1) : 1;
  return scale > 0 ? scale : 1;
}

void note(std::vector<std::string>& notes, std::size_t count, std::string_view what) {
  if (count > 0) notes.push_back(fmt::format("{} {} {}", count, count == 1 ? "row" : "rows", what));
}

/// Rows that can be fitted.
std::vector<std::size_t> usable_rows(const FitTable& table, const FitColumns& columns,
                                     std::vector<std::string>& notes) {
  std::vector<std::string> needed{columns.y};
  for (const std::string& name : columns.x) {
    if (std::find(columns.factors.begin(), columns.factors.end(), name) == columns.factors.end()) {
      needed.push_back(name);
    }
  }
  std::vector<std::size_t> rows;
  std::size_t incomplete = 0;
  std::size_t empty = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.is_sweep && table.rows[i][*table.find("complete")] != "1") {
      ++incomplete;
      continue;
    }
    bool whole = true;
    for (const std::string& name : needed) {
      const std::size_t at = *table.find(name);
      const std::string& field = table.rows[i][at];
      const auto value = table.number(i, at);
      if (!field.empty() && !value) {
        throw DataError(fmt::format("reading {}: row {}: {} is \"{}\", not a number", table.name,
                                    i + 1, name, field));
      }
      if (value && !can_be_squared(*value)) {
        throw DataError(
            fmt::format("reading {}: row {}: {} is {}: beyond what can be fitted; "
                        "write it in another unit, or leave the row out",
                        table.name, i + 1, name, field));
      }
      whole = whole && !field.empty();
    }
    empty += !whole;
    if (whole) rows.push_back(i);
  }
  note(notes, incomplete, "left out: the point did not complete");
  note(notes, empty, "left out: a field is empty");
  return rows;
}

/// What a reader of a sweep's curve should know of its points.
void note_doubts(const FitTable& table, const FitColumns& columns,
                 const std::vector<std::size_t>& rows, std::vector<std::string>& notes) {
  const auto checks = table.find("checks_ok");
  const auto asked = table.find(kAsked);
  const auto reached = table.find(kLoad);
  std::size_t failed = 0;
  std::size_t behind = 0;
  for (const std::size_t row : rows) {
    const std::vector<std::string>& fields = table.rows[row];
    failed += checks && fields[*checks] != "1";
    behind +=
        asked && reached &&
        number_in(fields[*reached]).value_or(0) < kReached * number_in(fields[*asked]).value_or(0);
  }
  note(notes, failed, "kept although a check of the run failed");
  if (columns.x.front() == kLoad) {
    note(notes, behind, "with less than 90 % of the load asked for; x is what was reached");
  }
}

}  // namespace

std::string_view name_of(FitModel model) {
  switch (model) {
    case FitModel::Saturation:
      return "saturation";
    case FitModel::Ols:
      return "ols";
    case FitModel::AlphaBeta:
      return "alphabeta";
    case FitModel::Linear:
      return "linear";
    case FitModel::Power:
      return "power";
    case FitModel::Inverse:
      return "inverse";
    case FitModel::Log:
      return "log";
  }
  return {};
}

FitColumns resolve_columns(const FitTable& table, const FitWishes& wishes) {
  FitColumns columns{
      .model = wishes.model.empty() ? default_model(table) : model_named(wishes.model),
      .x = wishes.x,
      .y = wishes.y,
      .by = wishes.by,
      .factors = wishes.factors};
  const bool ols = columns.model == FitModel::Ols;
  if (!columns.factors.empty() && !ols) throw SpecError("--factor: only with --model ols");
  if (columns.x.empty() && !(ols && !columns.factors.empty())) {
    columns.x = {required(table, default_x(table, columns.model), "--x")};
  }
  for (const std::string& name : columns.factors) {
    if (std::find(columns.x.begin(), columns.x.end(), name) == columns.x.end()) {
      columns.x.push_back(name);
    }
  }
  if (columns.x.size() > 1 && !ols) {
    throw SpecError(fmt::format("--x: {} takes one column; several are for --model ols",
                                name_of(columns.model)));
  }
  if (columns.y.empty()) columns.y = default_y(table, columns.model);
  required(table, columns.y, "--y");
  for (const std::string& name : columns.x) {
    required(table, name, "--x");
    if (name == columns.y) throw SpecError(fmt::format("--x: {} is y already", name));
    const bool is_factor =
        std::find(columns.factors.begin(), columns.factors.end(), name) != columns.factors.end();
    if (ols && !is_factor && is_categorical(table, name)) columns.factors.push_back(name);
  }
  for (const std::string& name : columns.by) required(table, name, "--by");
  if (columns.by.empty() && !table.settings.empty() && !ols)
    columns.by = default_by(table, columns);
  return columns;
}

FitAxis axis_of(const FitTable& table, const std::string& column) {
  FitAxis axis{.column = column};
  for (const Suffix& suffix : kSuffixes) {
    if (!column.ends_with(suffix.ending) && column != suffix.ending.substr(1)) continue;
    axis.unit = axis.column_unit = suffix.unit;
    axis.base = suffix.base;
    break;
  }
  if (table.is_sweep && axis.unit == "bit/s") {
    axis.unit = "Gbit/s";
    axis.per_shown = 1e9;
    axis.base = 1e9;
  }
  return axis;
}

std::vector<FitSeries> series_of(const FitTable& table, const FitColumns& columns,
                                 std::vector<std::string>& notes) {
  const std::vector<std::size_t> rows = usable_rows(table, columns, notes);
  if (rows.empty()) {
    throw DataError(fmt::format("fitting {}: no row is left{}{}", table.name,
                                notes.empty() ? "" : ": ", notes.empty() ? "" : notes.front()));
  }
  if (table.is_sweep) note_doubts(table, columns, rows, notes);
  std::vector<FitSeries> all;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const std::size_t row : rows) {
    std::vector<std::string> values;
    for (const std::string& name : columns.by) values.push_back(table.rows[row][*table.find(name)]);
    const auto [found, is_new] = known.try_emplace(values, all.size());
    if (is_new) {
      FitSeries series;
      for (std::size_t i = 0; i < values.size(); ++i) {
        series.label += fmt::format("{}{}={}", i > 0 ? " " : "", columns.by[i], values[i]);
        series.by.emplace_back(columns.by[i], values[i]);
      }
      if (series.label.empty()) series.label = "all points";
      all.push_back(std::move(series));
    }
    all[found->second].rows.push_back(row);
  }
  return all;
}

double number_at(const FitTable& table, std::size_t row, std::string_view column) {
  const double raw = *table.number(row, *table.find(column));
  const bool scaled = table.is_sweep && is_rate_or_size(column);
  return scaled ? raw * row_scale(table, table.rows[row]) : raw;
}

std::vector<FitPoint> points_of_series(const FitTable& table, const FitColumns& columns,
                                       const FitSeries& series) {
  check(columns.x.size() == 1, "a curve has one x");
  const FitAxis x = axis_of(table, columns.x.front());
  const FitAxis y = axis_of(table, columns.y);
  const auto tail = std::find_if(kTails.begin(), kTails.end(),
                                 [&](std::string_view name) { return table.find(name); });
  std::vector<FitPoint> points;
  for (const std::size_t row : series.rows) {
    FitPoint point{.x = number_at(table, row, x.column) / x.per_shown,
                   .y = number_at(table, row, y.column) / y.per_shown};
    if (tail != kTails.end()) {
      point.p99 = number_in(table.rows[row][*table.find(*tail)]);
      if (point.p99 && *point.p99 <= 0) point.p99.reset();
    }
    points.push_back(point);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const FitPoint& a, const FitPoint& b) { return a.x < b.x; });
  return points;
}

std::optional<double> scaled_most(const FitTable& table, const FitSeries& series,
                                  std::string_view column) {
  const auto at = table.is_sweep ? table.find(column) : std::nullopt;
  double most = 0;
  for (const std::size_t row : series.rows) {
    if (!at) break;
    most = std::max(
        most, number_in(table.rows[row][*at]).value_or(0) * row_scale(table, table.rows[row]));
  }
  return most > 0 ? std::optional(most) : std::nullopt;
}

double scale_of(const FitTable& table, const FitSeries& series) {
  return row_scale(table, table.rows[series.rows.front()]);
}

}  // namespace tw::study
