// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figures.h"

#include "trainwire/figures/gnuplot.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>

namespace tw::figures {
namespace {

void add(std::vector<Figure>& figures, std::optional<Figure> figure) {
  if (figure) figures.push_back(std::move(*figure));
}

std::vector<Figure> figures_of(const timeline::Source& source) {
  std::vector<Figure> figures;
  if (source.is_sweep) {
    add(figures, sweep_figure(source));
    add(figures, sweep_map_figure(source));
    return figures;
  }
  const timeline::RunPart& run = source.runs.front();
  figures = step_figures(run);
  add(figures, phases_figure(run));
  for (Figure& figure : throughput_figures(run)) figures.push_back(std::move(figure));
  add(figures, matrix_figure(run));
  add(figures, flow_sizes_figure(run));
  add(figures, completion_figure(run));
  add(figures, transfers_figure(run));
  for (Figure& figure : socket_figures(run)) figures.push_back(std::move(figure));
  return figures;
}

std::string name_of(const Figure& figure, std::string_view ending) {
  return fmt::format("figures/{}.{}", figure.name, ending);
}

void write(result::OutputFolder& folder, const std::string& name, const std::string& text) {
  result::OutputFile file(folder, name, "figures");
  file.write(text);
  file.put();
}

/// The drawn files, put in place when both are there.
std::optional<std::string> draw_into(result::OutputFolder& folder, const Figure& figure,
                                     const std::string& gnuplot) {
  const std::string pdf = folder.temporary(name_of(figure, "pdf"));
  const std::string svg = folder.temporary(name_of(figure, "svg"));
  const result::RemovedAtEnd pdf_guard(pdf), svg_guard(svg);
  const auto base = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  auto trouble = draw({.gnuplot = gnuplot,
                       .folder = folder.path() + "/figures",
                       .script = figure.name + ".gp",
                       .pdf = base(pdf),
                       .svg = base(svg)});
  if (trouble) return trouble;
  for (const char* ending : {"pdf", "svg"}) {
    folder.put({.name = name_of(figure, ending), .format = "figures"});
  }
  return {};
}

}  // namespace

void export_figures(const timeline::Source& source, result::OutputFolder& folder,
                    std::vector<std::string>& notes) {
  const std::vector<Figure> figures = figures_of(source);
  if (figures.empty()) {
    notes.emplace_back("figures: the run has no steps, windows, pairs or flows to draw");
    return;
  }
  if (source.is_sweep) {
    notes.push_back(
        fmt::format("figures: of the sweep as a whole; those of one point: trainwire export {}/{} "
                    "--to figures",
                    source.folder, source.runs.empty() ? "POINT" : source.runs.front().point));
  }
  const auto gnuplot = find_gnuplot();
  if (!gnuplot) {
    notes.emplace_back(
        "figures: gnuplot is not installed: data and scripts are there, PDF and SVG are not");
  }
  for (const Figure& figure : figures) {
    write(folder, name_of(figure, "csv"), figure.csv);
    write(folder, name_of(figure, "gp"), figure.script);
    if (!gnuplot) continue;
    if (const auto trouble = draw_into(folder, figure, *gnuplot)) {
      notes.push_back(fmt::format("figure {}: {}", figure.name, *trouble));
    }
  }
}

}  // namespace tw::figures
