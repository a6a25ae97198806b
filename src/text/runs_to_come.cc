// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/runs_to_come.h"

#include "trainwire/base/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tw::text {
namespace {

constexpr std::size_t kMostLines = 36;

Duration least_of(const RunsToCome& runs) {
  Duration sum = {};
  for (const RunToCome& run : runs.points) sum += run.finished ? Duration() : run.least;
  return sum;
}

std::string line_of(const RunToCome& run) {
  return fmt::format(
      "{}  {}{} steps, {}\n", printable(run.folder),
      run.settings.empty() ? "" : printable(fmt::format("{}", fmt::join(run.settings, " "))) + ": ",
      run.steps,
      run.finished ? "finished: not run again" : fmt::format("at least {}", readable(run.least)));
}

}  // namespace

std::string to_text(const RunsToCome& runs) {
  std::string text;
  for (std::size_t i = 0; i < std::min(runs.points.size(), kMostLines); ++i) {
    text += line_of(runs.points[i]);
  }
  if (runs.points.size() > kMostLines) {
    text += fmt::format("and {} more; --json has them all\n", runs.points.size() - kMostLines);
  }
  const auto due = std::count_if(runs.points.begin(), runs.points.end(),
                                 [](const RunToCome& run) { return !run.finished; });
  text += fmt::format(
      "{} run{} to come, at least {} of steps; building and measuring the network and the analysis "
      "take seconds more for each\n",
      due, due == 1 ? "" : "s", readable(least_of(runs)));
  if (runs.until) {
    text += fmt::format(
        "repetitions end before, from the third on, where the mean step is known to {:g} %\n",
        100 * *runs.until);
  }
  return text;
}

nlohmann::ordered_json to_json(const RunsToCome& runs) {
  nlohmann::ordered_json document{{"schema", 1},
                                  {"command", "run"},
                                  {"dry_run", true},
                                  {"least_s", seconds(least_of(runs))},
                                  {"points", nlohmann::ordered_json::array()}};
  for (const RunToCome& run : runs.points) {
    document["points"].push_back({{"folder", run.folder},
                                  {"settings", run.settings},
                                  {"steps", run.steps},
                                  {"least_s", seconds(run.least)},
                                  {"finished", run.finished}});
  }
  return document;
}

}  // namespace tw::text
