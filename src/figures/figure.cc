// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figure.h"

#include "trainwire/base/clean_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tw::figures {
namespace {

constexpr std::size_t kLongest = 60;
constexpr double kWidthCm = 8.6;  // a column of most two-column papers
constexpr double kPixelsPerCm = 50;
constexpr double kKeyRowCm = 0.36;
constexpr std::size_t kKeyCharacters = 52;  // that fit beside each other

constexpr std::array<std::string_view, 8> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#E69F00", "#56B4E9", "#000000", "#999999"};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Well-formed, without control characters, and short enough for a plot.
std::string visible(std::string_view text) {
  std::string made = cleaned(text);
  for (char& c : made) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (made.size() <= kLongest) return made;
  std::size_t end = kLongest;
  while (end > 0 && is_continuation(made[end])) --end;
  return made.substr(0, end) + "...";
}

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string made;
  for (const char c : text) made += c == from ? std::string(to) : std::string(1, c);
  return made;
}

/// Titles beside each other in the key.
std::size_t key_columns(const std::vector<std::string>& titles) {
  std::size_t longest = 0;
  for (const std::string& title : titles) longest = std::max(longest, visible(title).size());
  return std::clamp<std::size_t>(kKeyCharacters / (longest + 6), 1, titles.size());
}

std::string key_of(const std::vector<std::string>& titles) {
  if (titles.empty()) return "unset key";
  return fmt::format(
      "set key outside above center horizontal maxcols {} Left reverse samplen 1.5 spacing 1.1",
      key_columns(titles));
}

/// A key of many rows takes its room from the page, not from the plot.
double height_of(const Sheet& sheet) {
  if (sheet.titles.empty()) return sheet.height_cm;
  const std::size_t columns = key_columns(sheet.titles);
  const std::size_t rows = (sheet.titles.size() + columns - 1) / columns;
  return sheet.height_cm + kKeyRowCm * static_cast<double>(rows - 1);
}

}  // namespace

std::string gnuplot_text(std::string_view text) {
  return fmt::format("'{}'", replaced(visible(text), '\'', "''"));
}

std::string gnuplot_tic(std::string_view text) { return replaced(gnuplot_text(text), '%', "%%"); }

std::string csv_text(std::string_view text) {
  return fmt::format("\"{}\"", replaced(visible(text), '"', "'"));
}

std::string script_of(const Sheet& sheet) {
  const double height_cm = height_of(sheet);
  std::string script = fmt::format(
      "# {}\n"
      "# Made by trainwire. Edit it, then: gnuplot {}.gp\n"
      "if (!exists('pdf')) pdf = '{}.pdf'\n"
      "if (!exists('svg')) svg = '{}.svg'\n\n"
      "set encoding utf8\n"
      "set datafile separator comma\n"
      "set border 3 linewidth 0.5 linecolor rgb '#666666'\n"
      "set tics nomirror out scale 0.5\n"
      "set grid back linewidth 0.3 linetype 1 linecolor rgb '#dddddd'\n"
      "{}\n",
      sheet.sentence, sheet.name, sheet.name, sheet.name, key_of(sheet.titles));
  for (const std::string& line : sheet.settings) script += line + "\n";
  script += fmt::format(
      "\nset terminal pdfcairo noenhanced size {}cm,{:.2f}cm font 'Helvetica,8'\n"
      "set output pdf\n"
      "plot {}\n\n"
      "set terminal svg noenhanced size {},{} font 'Helvetica,11' background '#ffffff'\n"
      "set output svg\n"
      "replot\n"
      "unset output\n",
      kWidthCm, height_cm, fmt::join(sheet.plots, ", \\\n     "),
      static_cast<int>(kWidthCm * kPixelsPerCm), static_cast<int>(height_cm * kPixelsPerCm));
  return script;
}

std::string_view colour(std::size_t series) { return kColours[series % kColours.size()]; }

std::string scale_line(const ShownUnit& unit) {
  return fmt::format("scale = {:.0e}  # from the data to {}", unit.scale, unit.name);
}

ShownUnit time_unit(double largest_s) {
  if (largest_s >= 1) return {"s", 1};
  return largest_s >= 1e-3 ? ShownUnit{"ms", 1e3} : ShownUnit{"us", 1e6};
}

ShownUnit byte_unit(double largest_bytes) {
  if (largest_bytes >= 1e9) return {"GB", 1e-9};
  return largest_bytes >= 1e6 ? ShownUnit{"MB", 1e-6} : ShownUnit{"kB", 1e-3};
}

std::vector<CdfPoint> cdf(std::vector<double> values, std::size_t more, std::size_t most) {
  std::sort(values.begin(), values.end());
  std::vector<CdfPoint> points;
  if (!values.empty()) points.push_back({values.front(), 0});  // where the curve leaves the axis
  const std::size_t count = std::min(values.size(), most);
  const auto all = static_cast<double>(values.size() + more);
  for (std::size_t i = 0; i < count; ++i) {
    // Evenly over the values, the first and the last among them.
    const std::size_t at = count < 2 ? 0 : i * (values.size() - 1) / (count - 1);
    points.push_back({values[at], static_cast<double>(at + 1) / all});
  }
  return points;
}

}  // namespace tw::figures
