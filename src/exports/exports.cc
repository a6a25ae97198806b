// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/exports.h"

#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/exports/chrome.h"
#include "trainwire/exports/parquet.h"
#include "trainwire/exports/perfetto.h"
#include "trainwire/exports/sqlite_file.h"
#include "trainwire/exports/text_tables.h"
#include "trainwire/figures/figures.h"
#include "trainwire/result/json_text.h"
#include "trainwire/timeline/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

namespace tw::exports {
namespace {

// The formats of tables first.
constexpr std::array<std::string_view, 7> kNames{"csv",      "json",   "parquet", "sqlite",
                                                 "perfetto", "chrome", "figures"};

constexpr std::int64_t kRowsBetweenLooks = 4096;

bool wants(const Options& options, Format format) { return options.formats.contains(format); }

using Writers = std::vector<std::unique_ptr<TableWriter>>;

Writers writers_of(const Options& options, const timeline::TableSource& table,
                   result::OutputFolder& folder, SqliteFile* sqlite) {
  Writers writers;
  if (wants(options, Format::Csv)) writers.push_back(csv_writer(folder, table));
  if (wants(options, Format::Json)) writers.push_back(json_lines_writer(folder, table));
  if (wants(options, Format::Parquet)) writers.push_back(parquet_writer(folder, table));
  if (sqlite) writers.push_back(sqlite->table_writer(table));
  return writers;
}

void export_tables(const Options& options, const timeline::Source& source,
                   result::OutputFolder& folder, Outcome& outcome) {
  std::optional<SqliteFile> sqlite;
  if (wants(options, Format::Sqlite)) sqlite.emplace(folder, source);
  for (const timeline::TableSource& table : source.tables) {
    const Writers writers = writers_of(options, table, folder, sqlite ? &*sqlite : nullptr);
    if (writers.empty()) return;
    timeline::Rows rows(table);
    while (rows.next()) {
      for (const auto& writer : writers) writer->row(rows.cells());
      if (rows.count() % kRowsBetweenLooks == 0 && options.is_interrupted()) return;
    }
    for (const auto& writer : writers) writer->finish(rows.count());
    const std::vector<std::string> notes = rows.notes();
    outcome.notes.insert(outcome.notes.end(), notes.begin(), notes.end());
  }
  if (sqlite) sqlite->put();
}

/// run.json, and fit.json where `fit` has left one: as they are, but for bytes that are no UTF-8.
void export_documents(const timeline::Source& source, result::OutputFolder& folder) {
  const auto write = [&](const std::string& name, const nlohmann::ordered_json& document) {
    result::OutputFile file(folder, name, "json");
    file.write(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    file.write("\n");
    file.put();
  };
  write("run.json", record::document_of(source.file));
  const auto document = result::read_json(source.folder + "/fit.json");
  if (document.is_object()) write("fit.json", document);
}

void export_timelines(const Options& options, const timeline::Source& source,
                      result::OutputFolder& folder, Outcome& outcome) {
  for (const timeline::RunPart& run : source.runs) {
    if (options.is_interrupted()) return;
    const timeline::Timeline timeline = timeline::timeline_of(run, options.timeline);
    const std::string name = run.point.empty() ? "run" : run.point;
    for (const std::string& note : timeline.notes) {
      outcome.notes.push_back(fmt::format("timeline of {}: {}", name, note));
    }
    if (timeline.events() == 0) continue;
    if (wants(options, Format::Perfetto)) write_perfetto(folder, name, timeline);
    if (wants(options, Format::Chrome)) write_chrome(folder, name, timeline);
  }
}

}  // namespace

std::span<const std::string_view> format_names() { return kNames; }

std::set<Format> parse_formats(std::string_view list) {
  std::set<Format> formats;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) {
      const auto near = nearest(name, kNames);
      throw SpecError(fmt::format("--to: there is no format \"{}\"{}; the formats are {}", name,
                                  near ? fmt::format(", maybe {}", *near) : "",
                                  fmt::join(kNames, ", ")));
    }
    formats.insert(static_cast<Format>(found - kNames.begin()));
    if (comma == list.npos) return formats;
    list.remove_prefix(comma + 1);
  }
}

std::string default_place(const std::string& run) {
  std::filesystem::path path(run);
  if (path.filename().empty()) path = path.parent_path();
  if (path.filename() == "." || path.filename() == "..") path = std::filesystem::canonical(path);
  return path.string() + "-export";
}

Outcome export_run(const Options& options) {
  const timeline::Source source = timeline::open_source(options.run);
  result::OutputFolder folder(options.out, options.if_there);
  Outcome outcome{.files = {}, .missing_tables = {}, .notes = source.notes};
  if (*options.formats.begin() <= Format::Sqlite) outcome.missing_tables = source.missing_tables;
  const auto goes_on = [&] { return !options.is_interrupted(); };
  export_tables(options, source, folder, outcome);
  if (goes_on() && wants(options, Format::Json)) export_documents(source, folder);
  if (wants(options, Format::Perfetto) || wants(options, Format::Chrome)) {
    export_timelines(options, source, folder, outcome);
  }
  if (goes_on() && wants(options, Format::Figures))
    figures::export_figures(source, folder, outcome.notes);
  outcome.files = folder.written();
  outcome.is_interrupted = !goes_on();
  return outcome;
}

}  // namespace tw::exports
