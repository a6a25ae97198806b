// SPDX-License-Identifier: Apache-2.0
// Figures of a run or a sweep, each from the tables that it needs and left out where they are
// missing: data, script, and PDF and SVG where gnuplot is installed.

#pragma once

#include "trainwire/exports/figure.h"
#include "trainwire/exports/folder.h"
#include "trainwire/exports/source.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::exports {

/// Writes them into figures/. Throws SystemError when a file cannot be written; a figure that
/// gnuplot cannot draw is a note.
void export_figures(const Source& source, Folder& folder, std::vector<std::string>& notes);

/// One figure each, or nothing when the run has not what it needs.
std::vector<Figure> step_figures(const RunPart& run);
std::optional<Figure> phases_figure(const RunPart& run);
std::vector<Figure> throughput_figures(const RunPart& run);
std::optional<Figure> matrix_figure(const RunPart& run);
std::optional<Figure> flow_sizes_figure(const RunPart& run);
std::optional<Figure> completion_figure(const RunPart& run);
std::optional<Figure> transfers_figure(const RunPart& run);
std::vector<Figure> socket_figures(const RunPart& run);
/// Of a sweep: step time over what was varied, with the curves of fit.json.
std::optional<Figure> sweep_figure(const Source& sweep);

}  // namespace tw::exports
