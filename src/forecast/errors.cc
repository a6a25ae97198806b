// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/errors.h"

#include "trainwire/base/error.h"
#include "trainwire/forecast/errors_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tw::forecast {
namespace {

constexpr double kComputeShare = 0.05;
constexpr double kUnknown = 0.5;  ///< of a regime that nobody measured

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

template <typename Number>
Number number_in(std::string_view cell, std::string_view line) {
  Number value = {};
  const auto [end, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (problem != std::errc() || end != cell.data() + cell.size()) {
    throw DataError(fmt::format("table of errors: \"{}\" is no number in \"{}\"", cell, line));
  }
  return value;
}

void take(Errors& errors, std::string_view line) {
  const std::vector<std::string_view> cells = cells_of(line);
  if (cells.size() != 4) {
    throw DataError(fmt::format("table of errors: \"{}\" has no four cells", line));
  }
  const bool is_packet = cells[0] == "packet";
  const int runs = number_in<int>(cells[2], line);
  if (cells[1] == "covered") {
    Coverage& coverage = is_packet ? errors.packet : errors.flow;
    coverage.runs = runs;
    coverage.covered = number_in<int>(cells[3], line);
    return;
  }
  const std::optional<Regime> regime = regime_named(cells[1]);
  if (!regime) throw DataError(fmt::format("table of errors: no regime \"{}\"", cells[1]));
  const double error = number_in<double>(cells[3], line);
  errors.rows.push_back({.method = is_packet ? Method::Packet : Method::Flow,
                         .regime = *regime,
                         .runs = runs,
                         .error = error});
}

const FormError* row_of(const Errors& errors, Method method, Regime regime) {
  const bool is_packet = method == Method::Packet;
  const auto found =
      std::find_if(errors.rows.begin(), errors.rows.end(), [&](const FormError& row) {
        return (row.method == Method::Packet) == is_packet && row.regime == regime;
      });
  return found == errors.rows.end() ? nullptr : &*found;
}

}  // namespace

double Errors::of(Method method, Regime regime) const {
  const FormError* row = row_of(*this, method, regime);
  return row == nullptr ? kUnknown : row->error;
}

int Errors::runs_of(Method method, Regime regime) const {
  const FormError* row = row_of(*this, method, regime);
  return row == nullptr ? 0 : row->runs;
}

Errors errors_in(std::string_view table) {
  Errors errors;
  bool is_head = true;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find('\n', begin), table.size());
    const std::string_view line = table.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() || line.starts_with('#')) continue;
    if (!std::exchange(is_head, false)) take(errors, line);
  }
  return errors;
}

const Errors& errors() {
  static const Errors kErrors = errors_in(errors_table());
  return kErrors;
}

double error_scale(const StepTime& step) {
  return std::max(0.0, step.median_s - step.alone_s) + kComputeShare * step.alone_s;
}

}  // namespace tw::forecast
