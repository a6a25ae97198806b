// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figures.h"
#include "trainwire/record/phase.h"
#include "trainwire/timeline/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace tw::figures {
namespace {

using result::TableReader;

constexpr std::size_t kRanks = 16;

/// What a rank does one after the other is drawn above, what it moves meanwhile below.
struct PhaseLook {
  record::Phase phase;
  bool moves;
  std::string_view colour;
};
constexpr std::array kPhases{
    PhaseLook{record::Phase::Forward, false, "#56B4E9"},
    PhaseLook{record::Phase::Backward, false, "#0072B2"},
    PhaseLook{record::Phase::Wait, false, "#CCCCCC"},
    PhaseLook{record::Phase::Optimiser, false, "#009E73"},
    PhaseLook{record::Phase::Exchange, true, "#D55E00"},
    PhaseLook{record::Phase::Aggregation, true, "#E69F00"},
    PhaseLook{record::Phase::Distribution, true, "#CC79A7"},
};

struct Phase {
  std::int64_t rank;
  std::size_t look;
  std::int64_t start_ns;
  std::int64_t end_ns;
};

struct StepTimes {
  std::int64_t first_ns = INT64_MAX;
  std::int64_t last_ns = 0;
};

/// Rows of the first job's measured steps. `use` gets rank, step, phase, start and end.
template <typename Use>
void each_phase(const timeline::RunPart& run, Use use) {
  timeline::with_table(run, "steps", [&](TableReader& table) {
    const auto rank = table.column("rank"), step = table.column("step"), job = table.column("job");
    const auto phase = table.column("phase");
    const auto start = table.column("start_ns"), end = table.column("end_ns");
    std::optional<std::string> first_job;
    while (table.next()) {
      const auto r = table.integer(rank), s = table.integer(step);
      const auto from = timeline::time_in(table, start), to = timeline::time_in(table, end);
      if (!r || !s || !from || !to || *s < 0 || *to < *from) continue;
      if (!first_job) first_job = std::string(table.text(job));
      if (table.text(job) == *first_job) use(*r, *s, table.text(phase), *from, *to);
    }
  });
}

/// The step that took neither long nor short.
std::optional<std::pair<std::int64_t, std::int64_t>> median_step(const timeline::RunPart& run) {
  std::map<std::int64_t, StepTimes> steps;
  each_phase(run, [&](std::int64_t, std::int64_t step, std::string_view, std::int64_t from,
                      std::int64_t to) {
    StepTimes& times = steps[step];
    times.first_ns = std::min(times.first_ns, from);
    times.last_ns = std::max(times.last_ns, to);
  });
  if (steps.empty()) return {};
  std::vector<std::pair<std::int64_t, std::int64_t>> by_length;
  for (const auto& [step, times] : steps)
    by_length.emplace_back(times.last_ns - times.first_ns, step);
  std::sort(by_length.begin(), by_length.end());
  const std::int64_t step = by_length[by_length.size() / 2].second;
  return std::pair(step, steps.at(step).first_ns);
}

std::vector<Phase> phases_of(const timeline::RunPart& run, std::int64_t wanted) {
  std::vector<Phase> phases;
  each_phase(run, [&](std::int64_t rank, std::int64_t step, std::string_view name,
                      std::int64_t from, std::int64_t to) {
    const auto look = std::find_if(kPhases.begin(), kPhases.end(), [&](const PhaseLook& each) {
      return name_of(each.phase) == name;
    });
    if (step != wanted || look == kPhases.end()) return;
    phases.push_back({.rank = rank,
                      .look = static_cast<std::size_t>(look - kPhases.begin()),
                      .start_ns = from,
                      .end_ns = to});
  });
  return phases;
}

std::string plot_of(std::size_t look) {
  const auto [low, high] =
      kPhases[look].moves ? std::pair("+0.05", "+0.38") : std::pair("-0.38", "+0.05");
  return fmt::format(
      "'phases.csv' skip 1 using ($3=={} ? $5*scale : NaN):1:($5*scale):($6*scale):($1{}):($1{}) "
      "with boxxyerror fillstyle solid 1 noborder fillcolor rgb '{}' title '{}'",
      look, low, high, kPhases[look].colour, name_of(kPhases[look].phase));
}

}  // namespace

std::optional<Figure> phases_figure(const timeline::RunPart& run) {
  const auto step = median_step(run);
  if (!step) return {};
  const std::vector<Phase> phases = phases_of(run, step->first);
  std::map<std::int64_t, std::size_t> rows;
  for (const Phase& phase : phases) rows.emplace(phase.rank, 0);
  if (rows.empty()) return {};
  std::size_t row = 0;
  for (auto& [rank, number] : rows) number = row++;
  std::string csv = "row,name,phase_number,phase,start_s,end_s\n";
  std::array<bool, kPhases.size()> seen{};
  double last_s = 0;
  for (const Phase& phase : phases) {
    if (rows[phase.rank] >= kRanks) continue;
    seen[phase.look] = true;
    const double start_s = static_cast<double>(phase.start_ns - step->second) * 1e-9;
    const double end_s = static_cast<double>(phase.end_ns - step->second) * 1e-9;
    last_s = std::max(last_s, end_s);
    fmt::format_to(std::back_inserter(csv), "{},{},{},{},{:.9f},{:.9f}\n", rows[phase.rank],
                   csv_text(fmt::format("rank {}", phase.rank)), phase.look,
                   name_of(kPhases[phase.look].phase), start_s, end_s);
  }
  const ShownUnit unit = time_unit(last_s);
  const std::size_t shown = std::min(rows.size(), kRanks);
  Sheet sheet{.name = "phases",
              .sentence = fmt::format(
                  "What {} of {} ranks did in step {}, the one of median length: computing and "
                  "waiting above, exchanging below.",
                  shown, rows.size(), step->first),
              .height_cm = std::clamp(2.6 + 0.65 * static_cast<double>(shown), 4.0, 14.0)};
  std::vector<std::string> tics;
  for (const auto& [rank, number] : rows) {
    if (number < shown) tics.push_back(fmt::format("'rank {}' {}", rank, number));
  }
  sheet.settings = {scale_line(unit),
                    fmt::format("set xlabel 'time in step {} ({})'", step->first, unit.name),
                    fmt::format("set ytics ({})", fmt::join(tics, ", ")),
                    fmt::format("set yrange [{}.6:-0.6]", shown - 1),
                    "set xrange [0:*]",
                    "set grid noytics"};
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    if (!seen[i]) continue;
    sheet.titles.emplace_back(name_of(kPhases[i].phase));
    sheet.plots.push_back(plot_of(i));
  }
  return Figure{.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

}  // namespace tw::figures
