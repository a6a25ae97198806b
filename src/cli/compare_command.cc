// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/hosts_file.h"
#include "trainwire/record/json.h"
#include "trainwire/result/json_text.h"
#include "trainwire/result/whole_file.h"
#include "trainwire/tables/compared.h"
#include "trainwire/text/compare_output.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

namespace tw::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> runs;
  std::vector<std::string> metrics;
  std::string fail_if;
  std::string out;
  std::string expect;
  bool json = false;
};

bool asked_for(const CompareOptions& options, study::Metric metric) {
  return options.metrics.empty() || std::find(options.metrics.begin(), options.metrics.end(),
                                              name_of(metric)) != options.metrics.end();
}

/// Leaves the rows of the metrics that were asked for.
void select_rows(const CompareOptions& options, study::Comparison& comparison) {
  std::erase_if(comparison.rows,
                [&](const study::MetricRow& row) { return !asked_for(options, row.metric); });
  if (!comparison.rows.empty()) return;
  throw DataError(fmt::format(
      "comparing {}: not both runs have the metric {}; leave --metric out to see what they have",
      printable(comparison.path), fmt::join(options.metrics, ", ")));
}

/// Reads the folders, and takes their doubts and comparisons into the view.
void compare_all(const CompareOptions& options, text::CompareView& view) {
  if (options.runs.size() < 2) {
    throw SpecError("compare takes two runs at least, the first being the baseline");
  }
  const auto read = [&](const std::string& path) {
    study::ComparedFolder folder = study::read_compared(path);
    for (const std::string& doubt : folder.doubts) view.doubts.push_back({path, doubt});
    return folder;
  };
  const study::ComparedFolder baseline = read(options.runs.front());
  for (const std::string& path : std::span(options.runs).subspan(1)) {
    for (study::Comparison& comparison : study::compare_folders(baseline, read(path))) {
      select_rows(options, comparison);
      view.comparisons.push_back(std::move(comparison));
    }
  }
}

/// Judges step times, or the metrics that were asked for. Throws DataError when the limit could be
/// put to nothing: a test that tests nothing must not pass.
void judge_limit(const CompareOptions& options, text::CompareView& view) {
  std::size_t judged = 0;
  for (const study::Comparison& comparison : view.comparisons) {
    for (const study::MetricRow& row : comparison.rows) {
      if (options.metrics.empty() && row.metric != study::Metric::Step) continue;
      const study::Judgement judgement = judge(*view.limit, row);
      judged += judgement == study::Judgement::CannotTell ? 0 : 1;
      if (judgement != study::Judgement::Failed) continue;
      view.failed.push_back({.path = comparison.path,
                             .settings = comparison.settings,
                             .title = title(row),
                             .text = row.text});
    }
  }
  if (judged > 0) return;
  throw DataError(fmt::format("--fail-if {}: too few steps to tell; make longer runs",
                              printable(view.limit->text)));
}

/// A file that is there is replaced when it is an earlier comparison, and left alone otherwise.
void write_file(const std::string& path, const std::string& text) {
  if (std::filesystem::exists(path)) {
    const auto there = result::read_json(path);
    if (!there.is_object() || there.value("command", nlohmann::ordered_json()) != "compare") {
      throw SystemError(fmt::format(
          "writing {}: something else is there; choose another place with -o", printable(path)));
    }
  }
  result::write_whole(path, text);
}

bool are_files(const CompareOptions& options) {
  return std::all_of(options.runs.begin(), options.runs.end(), [](const std::string& path) {
    return std::filesystem::is_regular_file(path);
  });
}

/// Tables that benchmarks have printed, size by size.
int compare_tables(const CompareOptions& options, command::Streams streams) {
  if (options.runs.size() < 2) {
    throw SpecError("compare takes two runs at least, the first being the baseline");
  }
  if (!options.fail_if.empty() || !options.metrics.empty() || !options.expect.empty()) {
    throw SpecError(
        "--fail-if, --metric and --expect are for folders of runs: tables of benchmarks have one "
        "time for each size");
  }
  const auto read = [](const std::string& path) {
    const std::string text = command::read_whole(path);
    if (tables::program_of(text).empty()) {
      throw DataError(fmt::format(
          "reading {}: it is no table of a benchmark; of logs, traces and captures `trainwire "
          "analyze FILE -o NAME.run` makes a run, which compare takes",
          printable(path)));
    }
    return tables::parse_benchmark(text, path);
  };
  const tables::Benchmark baseline = read(options.runs.front());
  std::vector<tables::CurvesCompared> compared;
  for (const std::string& path : std::span(options.runs).subspan(1))
    compared.push_back(tables::compare_curves(baseline, read(path), path));
  const std::string document =
      record::dumped(tables::curves_document(options.runs.front(), compared)) + "\n";
  if (!options.out.empty()) write_file(options.out, document);
  fmt::print(streams.out, "{}",
             options.json ? document : tables::curves_text(options.runs.front(), compared));
  streams.out.flush();
  return 0;
}

int compare(const CompareOptions& options, command::Streams streams) {
  if (are_files(options)) return compare_tables(options, streams);
  const std::vector<spec::Expectation> expectations = command::expectations_of(options.expect);
  text::CompareView view{.baseline = options.runs.front(), .comparisons = {}};
  if (!options.fail_if.empty()) view.limit = study::parse_limit(options.fail_if);
  compare_all(options, view);
  if (view.limit) judge_limit(options, view);
  nlohmann::ordered_json found = text::compare_document(view);
  const std::vector<command::Judged> judged = command::judge_all(expectations, "compare", found);
  const std::string document = record::dumped(found) + "\n";
  if (!options.out.empty()) write_file(options.out, document);
  fmt::print(
      streams.out, "{}",
      options.json ? document : text::compare_text(view) + command::expectations_text(judged));
  streams.out.flush();
  for (const text::FailedRow& row : view.failed) {
    fmt::print(streams.err, "trainwire: {}{}{}: {}: {}, beyond {}\n", printable(row.path),
               row.settings.empty() ? "" : " ",
               printable(fmt::format("{}", fmt::join(row.settings, " "))), row.title, row.text,
               view.limit->text);
  }
  const int code = command::expectations_code(judged, streams.err);
  return view.failed.empty() ? code : command::kExpectationFailed;
}

}  // namespace

command::Body declare_compare(command::CommandLine& app) {
  const auto options = std::make_shared<CompareOptions>();
  app.add_option("RUN", options->runs,
                 "folders of runs or of sweeps; the first is the baseline, sweeps are compared "
                 "point by point; or files that nccl-tests, OSU, IMB, Gloo or iperf3 have printed")
      .type_name("")
      .required();
  app.add_option("--metric", options->metrics, "repeatable; default: all that the runs have")
      .type_name("NAME")
      .repeatable()
      .one_of({"step", "exchange", "busbw", "bytes", "accuracy", "to_target"});
  app.add_option("--fail-if", options->fail_if,
                 "exit with 1 when a step time, or a metric of --metric, differs by more and "
                 "significantly (the interval excludes 0): '+3%' higher, '-3%' lower, '3%' either")
      .type_name("LIMIT");
  command::add_expect(app, options->expect);
  app.add_option("-o,--out", options->out, "also write the JSON document there").type_name("FILE");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return compare(*options, streams); };
}

}  // namespace tw::cli
