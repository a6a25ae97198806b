// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/run_sweep.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/cli/capture_document.h"
#include "trainwire/cli/progress.h"
#include "trainwire/os/clock.h"
#include "trainwire/spec/print.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

/// The result of one point as the table shows it.
struct PointRow {
  SweepPoint point;
  ordered_json document;
  std::vector<Judged> expectations = {};
};

ExperimentFile file_of(const RunOptions& options, const SweepPoint& point) {
  ExperimentFile file = *options.experiment;
  file.overrides.insert(file.overrides.end(), point.settings.begin(), point.settings.end());
  return file;
}

/// The document of a point that was finished with these very settings.
std::optional<ordered_json> finished(const std::string& folder,
                                     const spec::Experiment& experiment) {
  if (!std::filesystem::exists(folder + "/run.json")) return {};
  try {
    const result::RunRecord record = result::read_run(folder);
    if (!record.complete || !record.document.contains("summary")) return {};
    ordered_json summary = record.document["summary"];
    // As it was written and read back: a number of a file has no type.
    ordered_json wanted = ordered_json::parse(spec::to_json(experiment).dump());
    ordered_json was = summary.value("experiment", ordered_json());
    // What is expected of a measurement does not change it.
    wanted.erase("expectations");
    if (was.is_object()) was.erase("expectations");
    if (was != wanted) return {};
    summary["complete"] = true;
    return summary;
  } catch (const Error&) {
    return {};  // not ours, or cut off: it is run again
  }
}

double number(const ordered_json& document, const ordered_json::json_pointer& at) {
  const ordered_json value = document.value(at, ordered_json());
  return value.is_number() ? value.get<double>() : 0;
}

bool checks_ok(const ordered_json& document) {
  for (const ordered_json& check : document.value("checks", ordered_json::array())) {
    if (!check.value("ok", false)) return false;
  }
  return true;
}

class Sweep {
 public:
  Sweep(const RunOptions& options, const spec::Experiment& experiment, Streams streams)
      : options_(options), experiment_(experiment), streams_(streams) {}

  int run() {
    const std::vector<SweepPoint> points = points_of(experiment_);
    // A wrong point is told before the first one runs.
    for (const SweepPoint& point : points) {
      require_runnable(options_, load(file_of(options_, point)), streams_);
    }
    const std::string path = folder_path();
    result::RunFolder folder = take_folder("run", *options_.experiment, path, true, streams_);
    folder.table("points");
    began_ns_ = os::monotonic_ns();
    for (const SweepPoint& point : points) {
      tell(rows_.size(), points.size(), point);
      rows_.push_back(run_point(path, point));
      if (interrupted_) break;
    }
    return finish(folder, points.size());
  }

 private:
  /// An earlier sweep's folder is gone on in; anything else that is there is refused.
  std::string folder_path() const {
    const std::string path =
        options_.out.empty() ? default_folder(*options_.experiment, true) : options_.out;
    if (options_.force || !std::filesystem::exists(path + "/run.json")) return path;
    const ordered_json summary = result::read_run(path).document.value("summary", ordered_json());
    if (summary.contains("sweep") || !std::filesystem::exists(path + "/steps.csv")) return path;
    throw SystemError(fmt::format(
        "{} holds a run that is no sweep; choose another place with --out, or replace it with "
        "--force",
        path));
  }

  PointRow run_point(const std::string& path, const SweepPoint& point) {
    const std::string at = path + "/" + point.folder;
    const spec::Experiment experiment = load(file_of(options_, point));
    if (!options_.force) {
      if (auto document = finished(at, experiment)) {
        PointRow row{.point = point, .document = std::move(*document)};
        row.expectations = judge_all(experiment.expectations, "run", row.document);
        return row;
      }
    }
    ++run_now_;
    result::RunFolder folder = take_folder("run", *options_.experiment, at, true, streams_);
    const RunReport report = measure(options_, experiment, folder, streams_);
    interrupted_ = report.outcome.interrupted;
    if (report.outcome.failure) {
      fmt::print(streams_.err, "trainwire: {}: {}\n", fmt::join(point.settings, " "),
                 *report.outcome.failure);
    }
    PointRow row{
        .point = point, .document = report.document, .expectations = report.view.expectations};
    row.document["complete"] = !report.outcome.failure && !interrupted_;
    return row;
  }

  void tell(std::size_t done, std::size_t all, const SweepPoint& point) const {
    if (options_.place.quiet) return;
    std::string line = fmt::format("point {} of {}: {}", done + 1, all,
                                   printable(fmt::format("{}", fmt::join(point.settings, " "))));
    if (run_now_ > 0) {
      const double each = 1e-9 * static_cast<double>(os::monotonic_ns() - began_ns_) /
                          static_cast<double>(run_now_);
      line += fmt::format(", about {} left",
                          readable(from_seconds(each * static_cast<double>(all - done))));
    }
    fmt::print(streams_.err, "{}\n", line);
    streams_.err.flush();
  }

  int finish(result::RunFolder& folder, std::size_t all) {
    ordered_json points = ordered_json::array();
    std::size_t failed = 0;
    bool good = true;
    result::TableFile& table = folder.table("points");
    for (const PointRow& row : rows_) {
      const ordered_json& d = row.document;
      const bool complete = d.value("complete", false);
      const bool ok = complete && checks_ok(d);
      failed += !complete;
      good = good && ok;
      const double step = number(d, "/jobs/0/step/median_s"_json_pointer);
      table.row({row.point.folder,
                 fmt::format("{}", fmt::join(row.point.settings, " ")),
                 complete,
                 ok,
                 step,
                 number(d, "/jobs/0/step/ci_low_s"_json_pointer),
                 number(d, "/jobs/0/step/ci_high_s"_json_pointer),
                 number(d, "/jobs/0/exchange/median_s"_json_pointer),
                 number(d, "/jobs/0/busbw_bps"_json_pointer),
                 number(d, "/utilisation/share"_json_pointer),
                 static_cast<std::int64_t>(number(d, "/jobs/0/steps"_json_pointer)),
                 number(d, "/jobs/0/step/mean_s"_json_pointer),
                 number(d, "/jobs/0/step/mean_low_s"_json_pointer),
                 number(d, "/jobs/0/step/mean_high_s"_json_pointer),
                 number(d, "/jobs/0/step/p99_s"_json_pointer),
                 static_cast<std::int64_t>(number(d, "/jobs/0/gradient_bytes"_json_pointer)),
                 static_cast<std::int64_t>(number(d, "/jobs/0/demand_bytes"_json_pointer)),
                 number(d, "/jobs/0/step_sent_bytes"_json_pointer),
                 number(d, "/experiment/run/scale/value"_json_pointer),
                 number(d, "/cross_traffic/capacity_bps"_json_pointer),
                 number(d, "/cross_traffic/requested_bps"_json_pointer),
                 number(d, "/cross_traffic/achieved_bps"_json_pointer)});
      points.push_back({{"folder", row.point.folder},
                        {"settings", row.point.settings},
                        {"complete", complete},
                        {"checks_ok", ok},
                        {"expectations", d.value("expectations", ordered_json::array())},
                        {"jobs", d.value("jobs", ordered_json::array())},
                        {"cross_traffic", d.value("cross_traffic", ordered_json())},
                        {"utilisation", d.value("utilisation", ordered_json())}});
    }
    const ordered_json document{{"schema", 1},
                                {"command", "run"},
                                {"name", *experiment_.name},
                                {"sweep", {{"points", all}}},
                                {"points", points},
                                {"experiment", spec::to_json(experiment_)}};
    const bool partial = interrupted_ || failed > 0;
    folder.finish(document, interrupted_ ? "interrupted" : failed > 0 ? "points failed" : "");
    show(document, folder.path());
    if (interrupted_) {
      fmt::print(streams_.err,
                 "trainwire: interrupted after {} of {} points; the same command goes on\n",
                 rows_.size() - 1, all);
      return kInterrupted;
    }
    const int code = judged_code();
    return (good || options_.keep_going) && !partial ? code : kRunFailed;
  }

  /// What was expected is expected of every point.
  int judged_code() const {
    int code = kDone;
    for (const PointRow& row : rows_) {
      for (const Judged& one : row.expectations) {
        if (one.ok) continue;
        fmt::print(streams_.err, "trainwire: NOT AS EXPECTED: {}: {}: {}\n", row.point.folder,
                   printable(fmt::format("{}", fmt::join(row.point.settings, " "))),
                   printable(one.text));
        code = kExpectationFailed;
      }
    }
    return code;
  }

  void show(const ordered_json& document, const std::string& path) const {
    if (options_.json) {
      fmt::print(streams_.out, "{}\n", dumped(document));
      return;
    }
    std::size_t width = 8;
    for (const PointRow& row : rows_) {
      width = std::max(width, fmt::format("{}", fmt::join(row.point.settings, " ")).size());
    }
    fmt::print(streams_.out, "{:<{}}  {:>10}  {:>23}  {:>10}  {:>13}  {:>5}  checks\n", "settings",
               width, "step", "95 % interval", "exchange", "busbw", "link");
    for (const PointRow& row : rows_) {
      const auto time = [&](const char* at) {
        return readable(from_seconds(number(row.document, ordered_json::json_pointer(at))));
      };
      fmt::print(
          streams_.out, "{:<{}}  {:>10}  {:>23}  {:>10}  {:>13}  {:>3.0f} %  {}\n",
          printable(fmt::format("{}", fmt::join(row.point.settings, " "))), width,
          time("/jobs/0/step/median_s"),
          fmt::format("{}, {}", time("/jobs/0/step/ci_low_s"), time("/jobs/0/step/ci_high_s")),
          time("/jobs/0/exchange/median_s"),
          readable(BitRate(number(row.document, "/jobs/0/busbw_bps"_json_pointer))),
          100 * number(row.document, "/utilisation/share"_json_pointer),
          !row.document.value("complete", false) ? "FAILED"
          : checks_ok(row.document)              ? "ok"
                                                 : "not ok");
    }
    fmt::print(streams_.out, "\n{} has points.csv and a run folder for each point\n", path);
  }

  const RunOptions& options_;
  const spec::Experiment& experiment_;
  Streams streams_;
  std::vector<PointRow> rows_;
  std::int64_t began_ns_ = 0;
  std::size_t run_now_ = 0;
  bool interrupted_ = false;
};

}  // namespace

std::vector<SweepPoint> points_of(const spec::Experiment& experiment) {
  std::vector<SweepPoint> points{{}};
  for (const spec::SweepAxis& axis : experiment.sweep) {
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().settings.push_back(axis.key + "=" + value);
      }
    }
    points = std::move(longer);
  }
  const int repeats = *experiment.run.repeats;
  std::vector<SweepPoint> all;
  for (const SweepPoint& point : points) {
    for (int i = 0; i < repeats; ++i) {
      all.push_back(point);
      if (repeats > 1) {
        all.back().settings.push_back(
            fmt::format("run.seed={}", *experiment.run.seed + static_cast<std::uint64_t>(i)));
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].folder = fmt::format("point-{:03}", i);
  return all;
}

int run_sweep(const RunOptions& options, const spec::Experiment& experiment, Streams streams) {
  return Sweep(options, experiment, streams).run();
}

}  // namespace tw::cli
