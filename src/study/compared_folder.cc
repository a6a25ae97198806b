// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/compared_folder.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/record/run_file.h"
#include "trainwire/study/fit_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace tw::study {
namespace {

/// Each is a time above 0, or the file is not what it claims to be.
std::vector<double> times(const std::vector<double>& list, const std::string& where) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] > 0 && can_be_squared(list[i])) continue;
    throw DataError(fmt::format("reading {}: time {} of a step is {}; make the run again", where,
                                i + 1,
                                std::isnan(list[i]) ? "no number" : fmt::format("{}", list[i])));
  }
  return list;
}

std::vector<double> times(const std::optional<record::Times>& series, const std::string& where) {
  return series ? times(series->times_s, where) : std::vector<double>();
}

std::optional<double> above_zero(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

std::vector<ComparedJob> logged_jobs(const std::vector<record::Job>& logged,
                                     const std::string& where) {
  std::vector<ComparedJob> jobs;
  for (const record::Job& job : logged) {
    ComparedJob found{.name = job.name,
                      .step_times_s = times(job.step, where),
                      .exchange_times_s = times(job.exchange, where),
                      .busbw_bps = above_zero(job.busbw_bps),
                      .step_sent_bytes = above_zero(job.step_sent_bytes),
                      .accounting = job.accounting,
                      .learning = job.learning};
    if (!found.step_times_s.empty()) jobs.push_back(std::move(found));
  }
  return jobs;
}

/// What the capture shows. Its first iteration is left out when the analysis found that it is not
/// like the others, as the analysis' own figures do.
ComparedJob captured_job(const record::Iterations& iterations, const std::string& where) {
  ComparedJob job{.name = "", .step_times_s = times(iterations.times_s, where)};
  if (iterations.first_untypical && job.step_times_s.size() > 1) {
    job.step_times_s.erase(job.step_times_s.begin());
  }
  return job;
}

std::optional<double> wire_bytes(const std::vector<record::Pair>& pairs) {
  double sum = 0;
  for (const record::Pair& pair : pairs) sum += static_cast<double>(pair.wire_bytes);
  return above_zero(sum);
}

void require_steps(const std::vector<ComparedJob>& jobs, const std::string& where) {
  for (const ComparedJob& job : jobs) {
    if (job.step_times_s.size() >= 2) continue;
    throw DataError(fmt::format(
        "reading {}: {}", where,
        job.step_times_s.empty()
            ? "it has no times of steps; folders of `run` have them, and those of `analyze` and "
              "`exec` in which steps were found"
            : "it has one step; a comparison needs two at least, and five for a verdict"));
  }
}

ComparedRun run_of(const record::Run& run, const std::string& where) {
  ComparedRun compared{.jobs = logged_jobs(run.jobs, where),
                       .wire_bytes = wire_bytes(run.pairs),
                       .experiment = run.experiment};
  if (compared.jobs.empty()) {
    compared.jobs.push_back(captured_job(run.iterations.value_or(record::Iterations{}), where));
    compared.jobs.back().accounting = run.accounting;
  }
  require_steps(compared.jobs, where);
  return compared;
}

std::vector<ComparedRun> points_of(const std::vector<record::Point>& points,
                                   const std::string& path) {
  std::vector<ComparedRun> runs;
  for (const record::Point& point : points) {
    const std::string where = fmt::format("{}/{}", printable(path), printable(point.folder));
    runs.push_back({.settings = point.settings, .jobs = logged_jobs(point.jobs, where)});
    if (runs.back().jobs.empty()) runs.back().jobs.push_back({.name = "", .step_times_s = {}});
    require_steps(runs.back().jobs, where);
  }
  if (runs.empty()) {
    throw DataError(fmt::format("reading {}: a sweep without points; run it", printable(path)));
  }
  return runs;
}

std::vector<std::string> doubts_of(const record::Run& run) {
  std::vector<std::string> doubts;
  for (const record::Check& check : run.checks) {
    if (!check.ok) doubts.push_back(fmt::format("check {} failed: {}", check.name, check.text));
  }
  const auto points = run.points.value_or(std::vector<record::Point>());
  const auto failed = std::count_if(points.begin(), points.end(),
                                    [](const record::Point& point) { return !point.checks_ok; });
  if (failed > 0) {
    doubts.push_back(fmt::format("checks failed in {} of {} points", failed, points.size()));
  }
  return doubts;
}

}  // namespace

ComparedFolder read_compared(const std::string& path) {
  if (!std::filesystem::exists(path + "/run.json")) {
    throw SystemError(
        fmt::format("reading {}: {}; give folders that `run`, `exec` or `analyze` have written",
                    printable(path),
                    std::filesystem::exists(path) ? "it holds no run (no run.json)"
                                                  : "there is no such folder"));
  }
  const record::RunFile file = record::read_run(path);
  if (!file.complete) {
    throw DataError(fmt::format("reading {}: the run is not whole ({}); run it again, to its end",
                                printable(path),
                                printable(file.partial.value_or("it was killed"))));
  }
  record::require_unchanged(path, file);
  const record::Run& run = file.summary;
  ComparedFolder folder{
      .path = path, .command = file.command, .sweep = file.is_sweep(), .runs = {}};
  if (folder.sweep) {
    folder.runs = points_of(*run.points, path);
  } else {
    folder.runs.push_back(run_of(run, printable(path)));
  }
  folder.doubts = doubts_of(run);
  return folder;
}

}  // namespace tw::study
