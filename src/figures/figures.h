// SPDX-License-Identifier: Apache-2.0
// Figures of a run or a sweep, each from the tables that it needs and left out where they are
// missing: data, script, and PDF and SVG where gnuplot is installed.

#pragma once

#include "trainwire/figures/figure.h"
#include "trainwire/result/output_folder.h"
#include "trainwire/timeline/source.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::figures {

/// Writes them into figures/. Throws SystemError when a file cannot be written; a figure that
/// gnuplot cannot draw is a note.
void export_figures(const timeline::Source& source, result::OutputFolder& folder,
                    std::vector<std::string>& notes);

/// One figure each, or nothing when the run has not what it needs.
std::vector<Figure> step_figures(const timeline::RunPart& run);
std::optional<Figure> phases_figure(const timeline::RunPart& run);
std::vector<Figure> throughput_figures(const timeline::RunPart& run);
std::optional<Figure> matrix_figure(const timeline::RunPart& run);
std::optional<Figure> flow_sizes_figure(const timeline::RunPart& run);
std::optional<Figure> completion_figure(const timeline::RunPart& run);
std::optional<Figure> transfers_figure(const timeline::RunPart& run);
std::vector<Figure> socket_figures(const timeline::RunPart& run);
/// Of a sweep: step time over what was varied, with the curves of fit.json.
std::optional<Figure> sweep_figure(const timeline::Source& sweep);
/// Of a sweep over two settings of three numbers or more: a cell for each combination.
std::optional<Figure> sweep_map_figure(const timeline::Source& sweep);

}  // namespace tw::figures
