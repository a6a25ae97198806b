// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/fit_text.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/terminal/chart.h"
#include "trainwire/text/fit_document.h"
#include "trainwire/text/fit_ols_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::text {
namespace {

using Lines = std::vector<std::string>;
using stats::Estimate;

constexpr std::size_t kMostPoints = 8;
constexpr std::size_t kMostSeries = 24;

std::string with_unit(const std::string& unit) { return unit.empty() ? "" : " " + unit; }

std::string range(const Estimate& value) {
  return fmt::format("{:.4g} .. {:.4g}", value.low, value.high);
}

std::string parameter_line(std::string_view name, const Estimate& value, const std::string& unit) {
  return fmt::format("  {:<6} {:>11.5g}  95 % interval {}{}", name, value.value, range(value),
                     with_unit(unit));
}

/// How n came about, and how much worse the others did.
std::string exponent_line(const stats::SaturationFit& curve) {
  if (curve.exponent == stats::Exponent::Fitted) return parameter_line("n", curve.n, "");
  std::string line = fmt::format("  {:<6} {:>11.5g}  ", "n", curve.n.value);
  if (curve.exponent == stats::Exponent::Fixed) return line + "fixed";
  line += "chosen;";
  double best = INFINITY;
  for (const stats::TriedExponent& one : curve.tried) best = std::min(best, one.ssr);
  bool close = false;
  for (const stats::TriedExponent& one : curve.tried) {
    if (one.n == curve.n.value) continue;
    line += fmt::format(" {:g} leaves {:.3g} times its residuals,", one.n,
                        best > 0 ? one.ssr / best : INFINITY);
    // A difference of 2 in AIC, n ln(SSR): less is no evidence.
    close = close || static_cast<double>(curve.points) * std::log(one.ssr / best) < 2;
  }
  line.back() = close ? ':' : ' ';
  return close ? line + " not clearly told apart" : line.substr(0, line.size() - 1);
}

std::string quality_line(double r_squared, double log_r_squared, double deviation,
                         std::string_view of) {
  return fmt::format("  R² {:.4f} in t, {:.4f} in ln t; residual deviation {}", r_squared,
                     log_r_squared,
                     of == "share" ? fmt::format("{:.2g} %", 100 * deviation)
                                   : fmt::format("{:.3g}{}", deviation, of));
}

void add_spare(Lines& lines, const study::SaturationResult& found) {
  if (!found.spare_bps) return;
  lines.push_back(fmt::format("  {} {} {} {} spare on average (95 % interval {} .. {})",
                              found.congestion.point ? "past it" : "under load", found.spare_bps->n,
                              found.spare_bps->n == 1 ? "point has" : "points have",
                              readable(BitRate(found.spare_bps->value)),
                              readable(BitRate(found.spare_bps->low)),
                              readable(BitRate(found.spare_bps->high))));
}

std::string data_text(const study::SaturationResult& found, const study::FitResult& result) {
  const auto bits = study::bits_in_area(result.x, result.y);
  if (!bits) return {};
  const Estimate& volume = found.congestion.point->volume;
  const auto bytes = [&](double area) { return readable(Bytes(std::llround(area * *bits / 8))); };
  std::string text = fmt::format("  a step could move {} there (95 % interval {} .. {})",
                                 bytes(volume.value), bytes(volume.low), bytes(volume.high));
  if (found.demand_bytes) {
    text +=
        fmt::format(", theory {} ({:+.0f} %)", readable(Bytes(std::llround(*found.demand_bytes))),
                    100 * (volume.value * *bits / 8 / *found.demand_bytes - 1));
  }
  return text;
}

void add_congestion(Lines& lines, const study::SaturationResult& found,
                    const study::FitResult& result) {
  if (!found.congestion.point) {
    lines.push_back(
        fmt::format("congestion point: none found; {}", stats::sentence(found.congestion.reason)));
    add_spare(lines, found);
    return;
  }
  const stats::CongestionPoint& point = *found.congestion.point;
  lines.push_back(fmt::format("congestion point {:.4g}{} (95 % interval {}) at {:.4g}{}",
                              point.load.value, with_unit(result.x.unit), range(point.load),
                              point.time.value, with_unit(result.y.unit)));
  if (std::string text = data_text(found, result); !text.empty()) lines.push_back(std::move(text));
  add_spare(lines, found);
}

/// At most kMostPoints of `count`, evenly, first and last among them.
std::vector<std::size_t> chosen(std::size_t count) {
  std::vector<std::size_t> rows;
  const std::size_t shown = std::min(count, kMostPoints);
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(shown < 2 ? 0 : i * (count - 1) / (shown - 1));
  }
  return rows;
}

void add_points(Lines& lines, const study::FitResult& result,
                const std::vector<stats::SparePoint>& spare) {
  const bool tails =
      std::any_of(result.points.begin(), result.points.end(),
                  [](const study::FitPoint& point) { return point.p99.has_value(); });
  std::string head = fmt::format("{:>11} {:>10} {:>10}", "x", "t", "fitted");
  if (tails) head += fmt::format(" {:>10}", "p99");
  if (!spare.empty()) head += fmt::format(" {:>14} {:>14} {:>20}", "ideal", "available", "spare");
  if (result.points.size() > kMostPoints) {
    head += fmt::format("   ({} of {} points)", kMostPoints, result.points.size());
  }
  lines.push_back(head);
  for (const std::size_t i : chosen(result.points.size())) {
    const study::FitPoint& point = result.points[i];
    std::string line =
        fmt::format("{:>11.5g} {:>10.4g} {:>10.4g}", point.x, point.y, result.fitted[i]);
    if (tails) line += fmt::format(" {:>10}", point.p99 ? fmt::format("{:.4g}", *point.p99) : "-");
    if (!spare.empty()) {
      line +=
          fmt::format(" {:>14} {:>14} {:>13} {:>4.0f} %", readable(spare[i].ideal),
                      readable(spare[i].available), readable(spare[i].spare), 100 * spare[i].share);
    }
    lines.push_back(line);
  }
}

void add_chart(Lines& lines, const study::FitResult& result,
               const std::function<double(double)>& curve) {
  std::vector<terminal::ChartPoint> points;
  for (const study::FitPoint& point : result.points) points.push_back({.x = point.x, .y = point.y});
  for (std::string& line : terminal::chart(points, curve, {.width = 60, .height = 7})) {
    lines.push_back(std::move(line));
  }
}

void add_at(Lines& lines, const study::FitResult& result) {
  if (!result.at) return;
  lines.push_back(fmt::format("at {:.6g}{}: {:.4g}{} (95 % interval {})", *result.at_x,
                              with_unit(result.x.unit), result.at->value, with_unit(result.y.unit),
                              range(*result.at)));
}

std::string holds_line(const study::FitResult& result, double from, double to) {
  return fmt::format("  holds for x from {:.5g} to {:.5g}{}", from, to, with_unit(result.x.unit));
}

void add_model(Lines& lines, const study::FitResult& result, const study::SaturationResult& found) {
  const stats::SaturationFit& curve = found.curve;
  lines.push_back(fmt::format("t = A exp(B/(C - x)^n), C = {:.5g}{}", curve.capacity,
                              with_unit(result.x.unit)));
  lines.push_back(parameter_line("A", curve.a, result.y.unit));
  lines.push_back(parameter_line("B", curve.b, power_unit(result.x, curve.n.value)));
  lines.push_back(exponent_line(curve));
  lines.push_back(
      quality_line(curve.r_squared, curve.r_squared_log, curve.residual_deviation,
                   curve.space == stats::Space::Log ? "share" : with_unit(result.y.unit)) +
      ";" + holds_line(result, curve.valid_from, curve.valid_to).substr(1));
  add_congestion(lines, found, result);
  add_points(lines, result, found.spare);
  add_chart(lines, result, [&](double x) {
    return curve.a.value * std::exp(curve.b.value / std::pow(curve.capacity - x, curve.n.value));
  });
}

void add_model(Lines& lines, const study::FitResult& result, const stats::AlphaBetaFit& fit) {
  const auto time = [](double value) { return fmt::format("{:.4g}", value); };
  lines.push_back("t = alpha + beta * bytes");
  lines.push_back(parameter_line("alpha", fit.alpha_s, "s"));
  lines.push_back(parameter_line("beta", fit.beta_s_per_byte, "s/byte"));
  if (fit.bandwidth_bps) {
    lines.push_back(fmt::format(
        "  bandwidth {}, 95 % interval {} .. {}", readable(BitRate(fit.bandwidth_bps->value)),
        readable(BitRate(fit.bandwidth_bps->low)),
        std::isinf(fit.bandwidth_bps->high) ? "unbounded"
                                            : readable(BitRate(fit.bandwidth_bps->high))));
  } else {
    lines.push_back("  no bandwidth: times do not rise with size");
  }
  lines.push_back(
      quality_line(fit.r_squared, fit.r_squared_log, fit.residual_deviation, "share") +
      fmt::format("; holds from {} to {} bytes", time(fit.valid_from), time(fit.valid_to)));
  add_points(lines, result, {});
}

void add_model(Lines& lines, const study::FitResult&, const stats::OlsFit& fit) {
  for (std::string& line : ols_text(fit)) lines.push_back(std::move(line));
}

void add_model(Lines& lines, const study::FitResult& result, const study::LinearResult& linear) {
  lines.push_back(
      linear.shape == study::FitModel::Power
          ? "ln y = intercept + slope ln x: a power of x"
          : fmt::format("y = intercept + slope {}", linear.shape == study::FitModel::Inverse ? "/ x"
                                                    : linear.shape == study::FitModel::Log ? "ln x"
                                                                                           : "x"));
  add_model(lines, result, linear.line);
  lines.push_back(holds_line(result, linear.valid_from, linear.valid_to));
  add_points(lines, result, {});
}

void add_model(Lines&, const study::FitResult&, const std::monostate&) {}

/// One line of a summary table.
std::string summary_of(const study::FitResult& result) {
  if (!result.refused.empty()) return fmt::format("not fitted: {}", printable(result.refused));
  std::string text = equation_of(result);
  if (const auto* found = std::get_if<study::SaturationResult>(&result.model)) {
    text += fmt::format(", R² {:.3f} in ln t", found->curve.r_squared_log);
    if (found->congestion.point) {
      text += fmt::format(", congestion at {:.4g} ({})", found->congestion.point->load.value,
                          range(found->congestion.point->load));
    } else {
      text += ", no congestion point";
    }
    if (found->spare_bps) {
      text += fmt::format(", {} spare", readable(BitRate(found->spare_bps->value)));
    }
  } else if (const auto* line = std::get_if<stats::AlphaBetaFit>(&result.model)) {
    if (line->bandwidth_bps) {
      text += fmt::format(", {}", readable(BitRate(line->bandwidth_bps->value)));
    }
    text += fmt::format(", R² {:.3f}", line->r_squared);
  } else if (const auto* linear = std::get_if<study::LinearResult>(&result.model)) {
    text += fmt::format(", R² {:.3f}, slope {}", linear->line.r_squared,
                        range(linear->line.coefficients[1].value));
  } else if (const auto* ols = std::get_if<stats::OlsFit>(&result.model)) {
    text = fmt::format("R² {:.3f}; {}", ols->r_squared, significance(*ols));
  }
  if (result.at) text += fmt::format("; at {:.4g}: {:.4g}", *result.at_x, result.at->value);
  return text;
}

void add_table(Lines& lines, const std::vector<study::FitResult>& results) {
  // A line with the name, one with the model, while there is room for both.
  const bool roomy = 2 * results.size() <= kMostSeries;
  const std::size_t most = kMostSeries;
  std::size_t width = 0;
  for (const study::FitResult& result : results) {
    width = std::max(width, std::min<std::size_t>(width_of(printable(result.series.label)), 44));
  }
  for (std::size_t i = 0; i < std::min(results.size(), most); ++i) {
    const std::string points = fmt::format("{} points", results[i].series.rows.size());
    const std::string label = printable(results[i].series.label);
    if (roomy) {
      lines.push_back(fmt::format("{}, {}", label, points));
      lines.push_back("  " + summary_of(results[i]));
      continue;
    }
    const std::string name = cut(label, width);
    lines.push_back(fmt::format("{}{}  {}", name, std::string(width - width_of(name), ' '),
                                summary_of(results[i])));
  }
  if (results.size() > most) {
    lines.push_back(fmt::format("... and {} more; --json has them all", results.size() - most));
  }
}

std::string next_line(const std::string& source, const study::FitColumns& columns, bool has_at) {
  const std::string name = printable(source);
  if (columns.model == study::FitModel::Ols) {
    return fmt::format("Next: `trainwire fit {} --json` with the same options has it for programs",
                       name);
  }
  if (has_at) return "Next: add --json for every point and figure";
  return "Next: add --at X to read the curve where it holds, --json for every point and figure";
}

}  // namespace

std::vector<std::string> fit_text(const std::string& source, const study::FitColumns& columns,
                                  const std::vector<study::FitResult>& results) {
  Lines lines;
  const study::FitResult& first = results.front();
  std::string x;
  for (const std::string& name : columns.x) x += (x.empty() ? "" : ", ") + printable(name);
  const std::string axes = fmt::format(
      "y = {}{}, x = {}{}", printable(columns.y),
      first.y.unit.empty() || first.y.unit == columns.y ? "" : fmt::format(" in {}", first.y.unit),
      x,
      first.x.unit.empty() || columns.x != std::vector{first.x.column} || first.x.unit == x
          ? ""
          : fmt::format(" in {}", first.x.unit));
  if (results.size() == 1) {
    lines.push_back(fmt::format("{}: {} points, {}", printable(first.series.label),
                                first.series.rows.size(), axes));
    std::visit([&](const auto& model) { add_model(lines, first, model); }, first.model);
    add_at(lines, first);
  } else {
    lines.push_back(fmt::format("{} series, {}", results.size(), axes));
    add_table(lines, results);
  }
  lines.push_back(next_line(source, columns, first.at.has_value()));
  return lines;
}

}  // namespace tw::text
