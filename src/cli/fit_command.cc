// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/result/whole_file.h"
#include "trainwire/spec/print.h"
#include "trainwire/study/fit_models.h"
#include "trainwire/text/fit_document.h"
#include "trainwire/text/fit_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>

namespace tw::cli {
namespace {

struct FitOptions {
  std::string source;
  std::vector<std::string> x;
  std::string y;
  std::vector<std::string> by;
  std::string model;
  std::string capacity;
  std::string n = "choose";
  std::string space = "log";
  std::vector<std::string> factors;
  std::string at;
  std::string demand;
  std::string out;
  std::string expect;
  bool json = false;
};

/// Each may be a list, "a,b".
std::vector<std::string> names_in(std::span<const std::string> lists) {
  std::vector<std::string> names;
  for (std::string_view list : lists) {
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      if (comma > 0) names.emplace_back(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }
  return names;
}

study::FitSettings settings_of(const FitOptions& options) {
  study::FitSettings settings{
      .space = options.space == "linear" ? stats::Space::Linear : stats::Space::Log,
      .capacity = options.capacity,
      .at = options.at};
  if (options.n == "free") {
    settings.exponent = stats::Exponent::Fitted;
  } else if (options.n != "choose") {
    const auto n = study::number_in(options.n);
    if (!n || *n <= 0) {
      throw SpecError(fmt::format(
          "--n: \"{}\" is none; write 0.5, 1, 2, another number above 0, choose or free",
          options.n));
    }
    settings.exponent = stats::Exponent::Fixed;
    settings.n = *n;
  }
  if (!options.demand.empty()) {
    const auto demand = parse_bytes(options.demand);
    if (!demand || demand->count() <= 0) {
      throw SpecError(fmt::format("--demand: \"{}\" is no size; write 153MB", options.demand));
    }
    settings.demand_bytes = static_cast<double>(demand->count());
  }
  return settings;
}

/// A sweep keeps its fit. One that may not be written to can still be read.
void keep_in_sweep(const study::FitTable& table, const std::string& text,
                   command::Streams streams) {
  if (table.folder.empty()) return;
  const std::string path = table.folder + "/fit.json";
  try {
    result::write_whole(path, text);
    fmt::print(streams.err, "wrote {}\n", printable(path));
  } catch (const SystemError& error) {
    fmt::print(streams.err, "note: not kept in the sweep: {}\n", printable(error.what()));
  }
}

void require_a_fit(const study::FitTable& table, const std::vector<study::FitResult>& results) {
  const bool any = std::any_of(results.begin(), results.end(),
                               [](const study::FitResult& one) { return one.refused.empty(); });
  if (!any) {
    throw DataError(fmt::format("fitting {}: {}{}", table.name, results.front().refused,
                                results.size() > 1 ? " (and no other series can be fitted)" : ""));
  }
  const auto is_read = [](const study::FitResult& one) { return one.at.has_value(); };
  const auto refused =
      std::find_if(results.begin(), results.end(),
                   [](const study::FitResult& one) { return !one.at_refused.empty(); });
  if (refused != results.end() && std::none_of(results.begin(), results.end(), is_read)) {
    throw DataError("--at: " + refused->at_refused);
  }
}

/// A sweep that was interrupted has the points that it got to.
void add_completeness_note(const study::FitTable& table, std::vector<std::string>& notes) {
  if (table.folder.empty() || !std::filesystem::exists(table.folder + "/run.json")) return;
  if (record::read_run(table.folder).complete) return;
  notes.push_back("the sweep is not complete; the command that began it goes on with it");
}

void add_scale_note(const study::FitTable& table, const std::vector<study::FitSeries>& series,
                    std::vector<std::string>& notes) {
  const double scale = study::scale_of(table, series.front());
  if (scale == 1) return;
  notes.push_back(fmt::format(
      "run.scale is {:g}: rates and bytes are those of the cluster that was emulated", scale));
}

/// A sweep carries what its experiment expects of its fit.
std::vector<spec::Expectation> own_expectations(const study::FitTable& table) {
  if (table.folder.empty() || !std::filesystem::exists(table.folder + "/run.json")) return {};
  const record::Run run = record::read_run(table.folder).summary;
  if (!run.experiment) return {};
  return spec::expectations_in(record::to_json(*run.experiment));
}

int fit(const FitOptions& options, command::Streams streams) {
  const study::FitSettings settings = settings_of(options);
  const study::FitTable table = study::read_fit_table(options.source);
  const std::vector<spec::Expectation> expectations =
      options.expect.empty() ? own_expectations(table) : command::expectations_of(options.expect);
  const study::FitRequest request{
      .table = table,
      .columns = study::resolve_columns(table, {.model = options.model,
                                                .x = names_in(options.x),
                                                .y = options.y,
                                                .by = names_in(options.by),
                                                .factors = names_in(options.factors)}),
      .settings = settings};
  const study::FitColumns& columns = request.columns;
  std::vector<std::string> notes;
  const std::vector<study::FitSeries> series = study::series_of(table, columns, notes);
  add_completeness_note(table, notes);
  add_scale_note(table, series, notes);
  std::vector<study::FitResult> results;
  for (const study::FitSeries& one : series) {
    results.push_back(study::fit_series(request, one, notes));
  }
  for (const std::string& note : notes) fmt::print(streams.err, "note: {}\n", printable(note));
  require_a_fit(table, results);
  for (const study::FitResult& one : results) {
    if (one.at_refused.empty()) continue;
    fmt::print(streams.err, "note: {}: {}\n", printable(one.series.label),
               printable(one.at_refused));
  }
  nlohmann::ordered_json found = text::fit_document(options.source, columns, results, notes);
  const std::vector<command::Judged> judged = command::judge_all(expectations, "fit", found);
  const std::string document = record::dumped(found) + "\n";
  if (options.json) {
    fmt::print(streams.out, "{}", document);
  } else {
    for (const std::string& line : text::fit_text(options.source, columns, results)) {
      fmt::print(streams.out, "{}\n", line);
    }
    fmt::print(streams.out, "{}", command::expectations_text(judged));
  }
  keep_in_sweep(table, document, streams);
  if (!options.out.empty()) result::write_whole(options.out, document);
  return command::expectations_code(judged, streams.err);
}

}  // namespace

command::Body declare_fit(command::CommandLine& app) {
  const auto options = std::make_shared<FitOptions>();
  app.add_option("SOURCE", options->source,
                 "a sweep's folder, a CSV file with a header, what `bench exchange --json`, "
                 "nccl-tests, OSU, IMB or Gloo printed, or - for standard input")
      .type_name("")
      .required();
  app.add_option("--model", options->model,
                 "default: saturation for a sweep, alphabeta for bytes and time_s")
      .type_name("NAME")
      .one_of({"saturation", "ols", "alphabeta", "linear", "power", "inverse", "log"});
  app.add_option("--x", options->x, "column; several for ols: model_bytes,batch")
      .type_name("COLUMN")
      .repeatable();
  app.add_option("--y", options->y, "column").type_name("COLUMN");
  app.add_option("--by", options->by,
                 "columns that tell series apart; default for a sweep: what else was varied")
      .type_name("COLUMN,...")
      .repeatable();
  app.add_option("--factor", options->factors,
                 "columns that ols takes as categories; those without numbers are anyway")
      .type_name("COLUMN,...")
      .repeatable();
  app.add_option("--capacity", options->capacity,
                 "asymptote of the saturation curve: 25Gbit, or a number in the unit of x")
      .type_name("RATE");
  app.add_option("--n", options->n,
                 "exponent of the saturation curve: 0.5, 1, 2, choose (of these, default) or free")
      .type_name("N");
  app.add_option("--space", options->space,
                 "residuals of the saturation curve: log (default) or linear")
      .type_name("SPACE")
      .one_of({"log", "linear"});
  app.add_option("--demand", options->demand, "what a step moves by theory; a sweep knows its own")
      .type_name("SIZE");
  app.add_option("--at", options->at, "read the curve there, as --capacity is written")
      .type_name("X");
  command::add_expect(app, options->expect);
  app.add_option("-o,--out", options->out, "also write the JSON document to this file")
      .type_name("FILE");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return fit(*options, streams); };
}

}  // namespace tw::cli
