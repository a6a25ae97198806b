// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/exports/exports.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/terminal/interrupt.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <utility>

namespace tw::cli {
namespace {

struct ExportOptions {
  std::string run;
  std::string to;
  std::string out;
  std::string from;
  std::string until;
  std::optional<int> events;
  bool force = false;
  bool json = false;
};

void require_run(const std::string& path) {
  if (std::filesystem::exists(path + "/run.json")) {
    return record::require_unchanged(path, record::read_run(path));
  }
  throw SystemError(fmt::format(
      "reading {}: {}; give a folder that `run`, `exec` or `analyze` has written", printable(path),
      std::filesystem::exists(path) ? "it holds no run (no run.json)" : "there is no such folder"));
}

std::optional<double> seconds_of(const std::string& text, std::string_view option) {
  if (text.empty()) return {};
  const auto time = parse_duration(text);
  if (!time) {
    throw SpecError(fmt::format("{} {}: it is no time; write 2.5s or 300ms, since the run's start",
                                option, printable(text)));
  }
  return seconds(*time);
}

timeline::TimelineOptions timeline_of(const ExportOptions& options) {
  timeline::TimelineOptions timeline{.from_s = seconds_of(options.from, "--from"),
                                     .to_s = seconds_of(options.until, "--until")};
  if (timeline.from_s && timeline.to_s && *timeline.to_s <= *timeline.from_s) {
    throw SpecError("--until is not after --from");
  }
  if (options.events && *options.events < 100) throw SpecError("--events: 100 is the least");
  if (options.events) timeline.events = static_cast<std::size_t>(*options.events);
  return timeline;
}

nlohmann::ordered_json document_of(const std::string& run, const std::string& out,
                                   const exports::Outcome& outcome) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const result::Written& file : outcome.files) {
    files.push_back(
        {{"path", out + "/" + file.name},
         {"format", file.format},
         {"rows", file.rows ? nlohmann::ordered_json(*file.rows) : nlohmann::ordered_json()},
         {"bytes", file.bytes}});
  }
  return {{"schema", 1},
          {"command", "export"},
          {"run", run},
          {"folder", out},
          {"files", std::move(files)},
          {"missing_tables", outcome.missing_tables},
          {"notes", outcome.notes}};
}

/// What to do with the files of a format.
std::string_view use_of(std::string_view format) {
  static constexpr std::pair<std::string_view, std::string_view> kUses[] = {
      {"csv", "any spreadsheet, R, pandas"},
      {"json", "jq, a line for each row"},
      {"parquet", "DuckDB, pandas, Polars, Spark"},
      {"sqlite", "sqlite3; tables `run` and `columns` explain the rest"},
      {"perfetto", "ui.perfetto.dev"},
      {"chrome", "chrome://tracing"},
      {"figures", "edit a .gp, then: gnuplot NAME.gp"}};
  for (const auto& [name, use] : kUses) {
    if (name == format) return use;
  }
  return "";
}

/// What to do with the first file of the format that is most at hand.
std::string next_step(const std::string& out, const exports::Outcome& outcome) {
  static constexpr std::pair<std::string_view, std::string_view> kSteps[] = {
      {"perfetto", "open {}/{} at https://ui.perfetto.dev"},
      {"figures", "look at {0}/figures"},
      {"sqlite", "sqlite3 {}/{} 'select * from columns'"},
      {"parquet", "duckdb -c \"from '{}/{}'\""}};
  for (const auto& [format, step] : kSteps) {
    for (const result::Written& file : outcome.files) {
      if (file.format == format) return fmt::format(fmt::runtime(step), out, file.name);
    }
  }
  return "`trainwire schema` explains every column";
}

void print_text(const std::string& out, const exports::Outcome& outcome, command::Streams streams) {
  struct Sum {
    std::size_t files = 0;
    std::int64_t bytes = 0;
  };
  std::map<std::string, Sum> sums;
  for (const result::Written& file : outcome.files) {
    ++sums[file.format].files;
    sums[file.format].bytes += file.bytes;
  }
  fmt::print(streams.out, "exported to {}\n", printable(out));
  for (const std::string_view format : exports::format_names()) {
    const auto sum = sums.find(std::string(format));
    if (sum == sums.end()) continue;
    fmt::print(streams.out, "  {:<9} {:>3} file{} {:>9}   {}\n", format, sum->second.files,
               sum->second.files == 1 ? " " : "s", readable(Bytes(sum->second.bytes)),
               use_of(format));
  }
  fmt::print(streams.out, "next: {}\n", printable(next_step(out, outcome)));
}

void print_notes(const exports::Outcome& outcome, command::Streams streams) {
  if (!outcome.missing_tables.empty()) {
    fmt::print(streams.err, "not in this run: {}\n", fmt::join(outcome.missing_tables, ", "));
  }
  for (const std::string& note : outcome.notes) {
    fmt::print(streams.err, "note: {}\n", printable(note));
  }
}

int export_run(const ExportOptions& options, command::Streams streams) {
  const std::set<exports::Format> formats = exports::parse_formats(options.to);
  const timeline::TimelineOptions timeline = timeline_of(options);
  require_run(options.run);
  std::error_code ignored;
  if (std::filesystem::equivalent(options.run, options.out, ignored)) {
    throw SpecError("--out: it is the run itself; choose another folder");
  }
  const std::string out = options.out.empty() ? exports::default_place(options.run) : options.out;
  const terminal::InterruptGuard guard;
  const exports::Outcome outcome = exports::export_run(
      {.run = options.run,
       .out = out,
       .formats = formats,
       .if_there = options.force ? result::IfThere::Replace : result::IfThere::Refuse,
       .timeline = timeline,
       .is_interrupted = [&] { return guard.interrupted(); }});
  print_notes(outcome, streams);
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(document_of(options.run, out, outcome)));
  } else if (!outcome.is_interrupted) {
    print_text(out, outcome, streams);
  }
  if (!outcome.is_interrupted) return 0;
  fmt::print(streams.err, "interrupted: files that were whole are kept\n");
  return command::kInterrupted;
}

}  // namespace

command::Body declare_export(command::CommandLine& app) {
  const auto options = std::make_shared<ExportOptions>();
  app.add_option("RUN", options->run, "folder of a run or of a sweep").type_name("").required();
  app.add_option("--to", options->to,
                 "formats, separated by commas: csv, json, parquet, sqlite, perfetto, chrome, "
                 "figures")
      .type_name("FORMATS")
      .suggests({exports::format_names().begin(), exports::format_names().end()})
      .required();
  app.add_option("-o,--out", options->out, "folder for the files; default: RUN-export")
      .type_name("DIR");
  app.add_option("--from", options->from,
                 "perfetto and chrome: only what comes after this time since the run's start")
      .type_name("TIME");
  app.add_option("--until", options->until, "perfetto and chrome: only what comes before it")
      .type_name("TIME");
  app.add_option("--events", options->events,
                 "perfetto and chrome: at most about so many events; default: 400000")
      .type_name("N");
  app.add_flag("--force", options->force, "overwrite files that no export has written");
  app.add_flag("--json", options->json, "print one JSON document that tells of the files");
  return [options](command::Streams streams) { return export_run(*options, streams); };
}

}  // namespace tw::cli
