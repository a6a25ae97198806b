// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/compare_run.h"

#include "trainwire/base/error.h"
#include "trainwire/cli/printable.h"
#include "trainwire/result/run_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <utility>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

/// Member `key` of an object; null when there is none, or `from` is no object.
ordered_json member(const ordered_json& from, const char* key) {
  return from.is_object() ? from.value(key, ordered_json()) : ordered_json();
}

/// Each is a time above 0, or the file is not what it claims to be.
std::vector<double> times(const ordered_json& list, const std::string& where) {
  std::vector<double> found;
  if (!list.is_array()) return found;
  for (const ordered_json& each : list) {
    const double time = each.is_number() ? each.get<double>() : 0;
    if (!std::isfinite(time) || time <= 0) {
      throw DataError(fmt::format("reading {}: time {} of a step is {}; make the run again", where,
                                  found.size() + 1, printable(each.dump())));
    }
    found.push_back(time);
  }
  return found;
}

std::string text_of(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<double> above_zero(const ordered_json& value) {
  if (!value.is_number() || value.get<double>() <= 0) return {};
  return value.get<double>();
}

std::vector<ComparedJob> logged_jobs(const ordered_json& summary, const std::string& where) {
  std::vector<ComparedJob> jobs;
  const ordered_json list = member(summary, "jobs");
  if (!list.is_array()) return jobs;
  for (const ordered_json& job : list) {
    ComparedJob found{.name = text_of(member(job, "name")),
                      .step_times_s = times(member(member(job, "step"), "times_s"), where),
                      .exchange_times_s = times(member(member(job, "exchange"), "times_s"), where)};
    found.busbw_bps = above_zero(member(job, "busbw_bps"));
    found.step_sent_bytes = above_zero(member(job, "step_sent_bytes"));
    if (!found.step_times_s.empty()) jobs.push_back(std::move(found));
  }
  return jobs;
}

/// What the capture shows. Its first iteration is left out when the analysis found that it is not
/// like the others, as the analysis' own figures do.
ComparedJob captured_job(const ordered_json& summary, const std::string& where) {
  const ordered_json iterations = member(summary, "iterations");
  ComparedJob job{.name = "", .step_times_s = times(member(iterations, "times_s"), where)};
  if (member(iterations, "first_untypical") == true && job.step_times_s.size() > 1) {
    job.step_times_s.erase(job.step_times_s.begin());
  }
  return job;
}

std::optional<double> wire_bytes(const ordered_json& summary) {
  const ordered_json pairs = member(summary, "pairs");
  if (!pairs.is_array() || pairs.empty()) return {};
  double sum = 0;
  for (const ordered_json& pair : pairs) {
    const ordered_json bytes = member(pair, "wire_bytes");
    if (bytes.is_number()) sum += bytes.get<double>();
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

ComparedRun run_of(const ordered_json& summary, const std::string& where) {
  ComparedRun run{.jobs = logged_jobs(summary, where), .wire_bytes = wire_bytes(summary)};
  run.experiment = member(summary, "experiment");
  if (run.jobs.empty()) run.jobs.push_back(captured_job(summary, where));
  for (const ComparedJob& job : run.jobs) {
    if (job.step_times_s.empty()) {
      throw DataError(
          fmt::format("reading {}: it has no times of steps; folders of `run` have "
                      "them, and those of `analyze` and `exec` in which steps were found",
                      where));
    }
    if (job.step_times_s.size() < 2) {
      throw DataError(fmt::format(
          "reading {}: it has one step; a comparison needs two at least, and five for a verdict",
          where));
    }
  }
  return run;
}

std::vector<ComparedRun> points_of(const ordered_json& summary, const std::string& path) {
  std::vector<ComparedRun> runs;
  for (const ordered_json& point : summary["points"]) {
    const std::string where =
        fmt::format("{}/{}", printable(path), printable(text_of(member(point, "folder"))));
    ComparedRun run = run_of(point, where);
    const ordered_json settings = member(point, "settings");
    for (const ordered_json& setting : settings.is_array() ? settings : ordered_json::array()) {
      run.settings.push_back(text_of(setting));
    }
    runs.push_back(std::move(run));
  }
  if (runs.empty()) {
    throw DataError(fmt::format("reading {}: a sweep without points; run it", printable(path)));
  }
  return runs;
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
  const result::RunRecord record = result::read_run(path);
  if (!record.complete) {
    const std::string why = text_of(member(record.document, "partial"));
    throw DataError(fmt::format("reading {}: the run is not whole ({}); run it again, to its end",
                                printable(path), why.empty() ? "it was killed" : printable(why)));
  }
  const ordered_json summary = member(record.document, "summary");
  ComparedFolder folder{.path = path,
                        .command = text_of(member(record.document, "command")),
                        .sweep = member(summary, "points").is_array(),
                        .runs = {}};
  if (folder.sweep) {
    folder.runs = points_of(summary, path);
  } else {
    folder.runs.push_back(run_of(summary, printable(path)));
  }
  return folder;
}

}  // namespace tw::cli
