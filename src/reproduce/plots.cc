// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/plots.h"

#include "trainwire/reproduce/axis.h"
#include "trainwire/reproduce/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tw::reproduce {
namespace {

constexpr double kWidth = 720;
constexpr double kLabels = 270;  ///< names of numbers stand left of this
constexpr double kRight = 690;
constexpr double kRow = 26;
constexpr std::size_t kMostLetters = 44;
constexpr std::size_t kMostLegendLetters = 38;  ///< of a legend's two columns
constexpr const char* kGrid = "#e2e2e2";

std::string shortened(const std::string& text, std::size_t most = kMostLetters) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

void add_key(Drawing& drawing, double y) {
  drawing.spots.push_back({kLabels, y - 4, Mark::Circle, kPublishedColour, false});
  drawing.words.push_back({.x = kLabels + 10, .y = y, .text = "published"});
  drawing.spots.push_back({kLabels + 90, y - 4, Mark::Diamond, kOursColour, true});
  drawing.words.push_back({.x = kLabels + 100, .y = y, .text = "ours"});
}

void add_marks_across(Drawing& drawing, const Axis& axis, double top, double bottom) {
  for (const double mark : axis.marks()) {
    const double x = axis.place(mark);
    drawing.lines.push_back({.points = {{x, top}, {x, bottom}}, .colour = kGrid});
    drawing.words.push_back({.x = x,
                             .y = bottom + 14,
                             .text = number_text(mark),
                             .size = 10,
                             .anchor = Anchor::Middle});
  }
}

void add_whisker(Drawing& drawing, const Axis& axis, const std::optional<double>& low,
                 const std::optional<double>& high, double y, const char* colour) {
  if (!low || !high || *low == *high) return;
  drawing.lines.push_back(
      {.points = {{axis.place(*low), y}, {axis.place(*high), y}}, .colour = colour, .width = 2});
}

/// What all names begin with, with its ": "; "" where they differ.
std::string common_beginning(const std::vector<const Judged*>& rows) {
  const std::size_t end = rows.front()->what.find(": ");
  if (rows.size() < 2 || end == std::string::npos) return {};
  std::string beginning = rows.front()->what.substr(0, end + 2);
  const bool is_common = std::ranges::all_of(
      rows, [&](const Judged* one) { return one->what.starts_with(beginning); });
  return is_common ? beginning : std::string();
}

/// Numbers of one unit, a line each.
void add_panel(Drawing& drawing, const std::vector<const Judged*>& rows, const std::string& unit) {
  std::vector<double> values;
  for (const Judged* one : rows) {
    for (const auto& each : {one->published, one->published_low, one->published_high, one->value,
                             one->low, one->high}) {
      if (each && std::isfinite(*each)) values.push_back(*each);
    }
  }
  const Axis axis(values, {.from = kLabels + 12, .to = kRight}, wants_log(values));
  const double top = drawing.height + 6;
  const double bottom = top + kRow * static_cast<double>(rows.size());
  add_marks_across(drawing, axis, top, bottom);
  const std::string beginning = common_beginning(rows);
  double y = top + kRow / 2;
  for (const Judged* one : rows) {
    drawing.lines.push_back(
        {.points = {{kLabels + 12, y}, {kRight, y}}, .colour = kGrid, .width = 0.5});
    drawing.words.push_back({.x = kLabels,
                             .y = y + 4,
                             .text = shortened(one->what.substr(beginning.size())),
                             .anchor = Anchor::End});
    add_whisker(drawing, axis, one->published_low, one->published_high, y - 6, kPublishedColour);
    drawing.spots.push_back(
        {axis.place(*one->published), y - 6, Mark::Circle, kPublishedColour, false});
    if (one->value && std::isfinite(*one->value)) {
      add_whisker(drawing, axis, one->low, one->high, y + 6, kOursColour);
      drawing.spots.push_back({axis.place(*one->value), y + 6, Mark::Diamond, kOursColour, true});
    }
    y += kRow;
  }
  drawing.words.push_back(
      {.x = kRight, .y = bottom + 28, .text = beginning + unit, .anchor = Anchor::End});
  drawing.height = bottom + 36;
}

std::optional<Drawing> numbers_drawing(const Outcome& outcome) {
  std::vector<std::pair<std::string, std::vector<const Judged*>>> panels;
  for (const Judged& one : outcome.judged) {
    if (!one.published) continue;
    const auto found = std::find_if(panels.begin(), panels.end(),
                                    [&](const auto& panel) { return panel.first == one.unit; });
    if (found == panels.end()) {
      panels.push_back({one.unit, {&one}});
    } else {
      found->second.push_back(&one);
    }
  }
  if (panels.empty()) return {};
  Drawing drawing{.width = kWidth, .height = 22};
  add_key(drawing, 16);
  for (const auto& [unit, rows] : panels) add_panel(drawing, rows, unit);
  return drawing;
}

constexpr std::array kColours{"#1d4ed8", "#059669", "#9333ea", "#db2777", "#0891b2", "#4d7c0f"};

/// Below one another, under the plot.
void add_legend(Drawing& drawing, const std::vector<DrawnCurve>& curves,
                const std::vector<std::string>& colours, double y) {
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const double x = i % 2 == 0 ? 60 : 390;
    const double at = y + 18 * static_cast<double>(i / 2);
    drawing.lines.push_back({.points = {{x, at - 4}, {x + 26, at - 4}},
                             .colour = colours[i],
                             .width = 2,
                             .dashed = curves[i].is_published});
    drawing.words.push_back({.x = x + 32,
                             .y = at,
                             .text = shortened(curves[i].name, kMostLegendLetters) +
                                     (curves[i].is_published ? " (published)" : "")});
  }
}

std::optional<Drawing> curves_drawing(const Outcome& outcome) {
  const std::vector<DrawnCurve>& curves = outcome.curves;
  if (curves.empty()) return {};
  constexpr double kTop = 24, kBottom = 270, kLeft = 60;
  std::vector<double> xs, ys;
  for (const DrawnCurve& curve : curves) {
    xs.insert(xs.end(), curve.x.begin(), curve.x.end());
    ys.insert(ys.end(), curve.y.begin(), curve.y.end());
  }
  const Plot& plot = outcome.artefact.plot;
  const Axis x(xs, {.from = kLeft, .to = kRight}, plot.log_x);
  const Axis y(ys, {.from = kBottom, .to = kTop}, plot.log_y);
  Drawing drawing{.width = kWidth,
                  .height = kBottom + 62 + 18 * static_cast<double>((curves.size() + 1) / 2)};
  add_marks_across(drawing, x, kTop, kBottom);
  for (const double mark : y.marks()) {
    drawing.lines.push_back(
        {.points = {{kLeft, y.place(mark)}, {kRight, y.place(mark)}}, .colour = kGrid});
    drawing.words.push_back({.x = kLeft - 6,
                             .y = y.place(mark) + 4,
                             .text = number_text(mark),
                             .size = 10,
                             .anchor = Anchor::End});
  }
  std::vector<std::string> colours;
  std::size_t next = 0;
  for (const DrawnCurve& curve : curves) {
    colours.push_back(curve.is_published ? kPublishedColour : kColours[next++ % kColours.size()]);
    Line line{.points = {}, .colour = colours.back(), .width = 2, .dashed = curve.is_published};
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      line.points.emplace_back(x.place(curve.x[i]), y.place(curve.y[i]));
      drawing.spots.push_back({line.points.back().first, line.points.back().second,
                               curve.is_published ? Mark::Ring : Mark::Diamond, colours.back(),
                               !curve.is_published});
    }
    drawing.lines.push_back(std::move(line));
  }
  drawing.words.push_back({.x = 6, .y = 14, .text = plot.y});
  drawing.words.push_back({.x = kRight, .y = kBottom + 30, .text = plot.x, .anchor = Anchor::End});
  add_legend(drawing, curves, colours, kBottom + 52);
  return drawing;
}

/// One below the other.
Drawing stacked(Drawing upper, const Drawing& lower) {
  const double by = upper.height + 8;
  for (Line line : lower.lines) {
    for (auto& [x, y] : line.points) y += by;
    upper.lines.push_back(std::move(line));
  }
  for (Spot spot : lower.spots) {
    spot.y += by;
    upper.spots.push_back(std::move(spot));
  }
  for (Words words : lower.words) {
    words.y += by;
    upper.words.push_back(std::move(words));
  }
  upper.height = by + lower.height;
  return upper;
}

}  // namespace

std::optional<Drawing> drawing_of(const Outcome& outcome) {
  auto curves = curves_drawing(outcome);
  const auto numbers = numbers_drawing(outcome);
  if (!curves) return numbers;
  if (!numbers) return curves;
  return stacked(std::move(*curves), *numbers);
}

}  // namespace tw::reproduce
