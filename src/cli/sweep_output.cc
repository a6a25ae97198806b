// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/sweep_output.h"

#include "trainwire/base/printable.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/run_options.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/text/run_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace tw::cli {
namespace {

/// Of a sweep in which nothing is as expected.
constexpr int kMostTold = 20;

/// What was expected is expected of every point.
int judged_code(const std::vector<record::Point>& points, command::Streams streams) {
  int failed = 0;
  for (const record::Point& point : points) {
    for (const command::Judged& one : point.expectations.value_or(std::vector<command::Judged>())) {
      if (one.ok || ++failed > kMostTold) continue;
      fmt::print(streams.err, "trainwire: NOT AS EXPECTED: {}: {}: {}\n", point.folder,
                 settings_text(point.settings), printable(one.text));
    }
  }
  if (failed > kMostTold) {
    fmt::print(streams.err, "trainwire: NOT AS EXPECTED: {} more; --json has them all\n",
               failed - kMostTold);
  }
  return failed > 0 ? command::kExpectationFailed : command::kDone;
}

/// Of each point that has none yet, then of the sweep, whose page leads to them.
void leave_pages(const std::vector<record::Point>& points, const std::string& folder, bool tells,
                 command::Streams streams) {
  for (const record::Point& point : points) {
    const std::string at = fmt::format("{}/{}", folder, point.folder);
    if (record::is_run(at) && !std::filesystem::exists(at + "/report.html")) {
      leave_page(at, false, streams);
    }
  }
  leave_page(folder, tells, streams);
}

int interrupted(const sweep::Swept& swept, command::Streams streams) {
  const auto behind = std::count_if(
      swept.run.points->begin(), swept.run.points->end(),
      [](const record::Point& point) { return point.problem != sweep::kInterrupted; });
  fmt::print(streams.err,
             "trainwire: interrupted after {} of {} points; the same command goes on\n", behind,
             swept.run.sweep->points);
  return command::kInterrupted;
}

}  // namespace

std::string settings_text(const std::vector<std::string>& settings) {
  return printable(fmt::format("{}", fmt::join(settings, " ")));
}

std::string sweep_folder(const std::string& out, const command::ExperimentFile& experiment) {
  return out.empty() ? command::default_folder(experiment, true) : out;
}

command::ExperimentFile file_of(const command::ExperimentFile& experiment,
                                const sweep::Planned& point) {
  command::ExperimentFile file = experiment;
  file.overrides.insert(file.overrides.end(), point.settings.begin(), point.settings.end());
  return file;
}

int end_sweep(const SweepEnd& end, const sweep::Swept& swept, const std::string& folder,
              command::Streams streams) {
  const std::vector<record::Point>& points = *swept.run.points;
  if (end.json) {
    fmt::print(streams.out, "{}\n", record::dumped(swept.run));
  } else if (!end.quiet) {
    fmt::print(streams.out, "{}", text::points_text(swept.run, folder));
  }
  if (!end.no_page) leave_pages(points, folder, !end.json && !end.quiet, streams);
  if (swept.interrupted) return interrupted(swept, streams);
  const bool good = std::all_of(points.begin(), points.end(),
                                [](const record::Point& point) { return point.checks_ok; });
  const int code = judged_code(points, streams);
  return (good || end.keep_going) && swept.is_whole() ? code : command::kRunFailed;
}

}  // namespace tw::cli
