// SPDX-License-Identifier: Apache-2.0
#include "trainwire/timeline/source.h"

#include "trainwire/base/error.h"
#include "trainwire/result/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace tw::timeline {
namespace {

namespace fs = std::filesystem;
using result::Column;
using result::Type;

constexpr Column kPoint{"point", Type::Text, "", "run folder of the point, inside the sweep's"};

constexpr std::array kSettings{
    Column{"key", Type::Text, "", "what the point sets, as in the experiment"},
    Column{"value", Type::Text, "", "to what"},
};

/// Names come from a file: only such as lie inside the sweep's folder.
bool is_name_of_folder(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos;
}

bool has_run(const Source& source, const std::string& name) {
  return is_name_of_folder(name) && fs::exists(fmt::format("{}/{}/run.json", source.folder, name));
}

/// A simulated sweep keeps no folders unless asked to, and is whole without them.
std::vector<RunPart> points_of(Source& source, const std::vector<record::Point>& points) {
  std::vector<RunPart> runs;
  const bool has_any = std::any_of(points.begin(), points.end(), [&](const record::Point& point) {
    return has_run(source, point.folder);
  });
  if (!has_any && source.file.command == "sim") {
    source.notes.emplace_back(
        "points have no tables of their own; trainwire sim --keep keeps their folders");
    return runs;
  }
  for (const record::Point& point : points) {
    const std::string& name = point.folder;
    const std::string folder = fmt::format("{}/{}", source.folder, name);
    if (!has_run(source, name)) {
      source.notes.push_back(fmt::format("point {}: it has no folder with a run.json", name));
      continue;
    }
    runs.push_back({.point = name, .folder = folder, .file = record::read_run(folder)});
  }
  return runs;
}

std::optional<std::int64_t> recorded_rows(const record::RunFile& file, std::string_view table) {
  const auto rows = file.rows.find(std::string(table));
  return rows == file.rows.end() ? std::nullopt : std::optional(rows->second);
}

std::optional<Part> part_of(const RunPart& run, std::string_view table) {
  const std::string path = fmt::format("{}/{}.csv", run.folder, table);
  std::error_code ignored;
  if (!fs::exists(path, ignored) || fs::file_size(path, ignored) == 0) return {};
  return Part{.point = run.point, .path = path, .recorded_rows = recorded_rows(run.file, table)};
}

TableSource table_of(const Source& source, const result::Table& table) {
  TableSource made{.name = std::string(table.name),
                   .meaning = std::string(table.meaning),
                   .columns = {},
                   .has_point = source.is_sweep,
                   .parts = {}};
  if (made.has_point) made.columns.push_back(kPoint);
  made.columns.insert(made.columns.end(), table.columns.begin(), table.columns.end());
  if (source.is_sweep && table.name == "points") {
    const RunPart whole{.point = "", .folder = source.folder, .file = source.file};
    if (auto part = part_of(whole, table.name)) made.parts.push_back(std::move(*part));
    return made;
  }
  for (const RunPart& run : source.runs) {
    if (auto part = part_of(run, table.name)) made.parts.push_back(std::move(*part));
  }
  return made;
}

TableSource settings_of(const Source& source, const std::vector<record::Point>& points) {
  TableSource made{.name = "settings",
                   .meaning = "one setting of a point of the sweep a row",
                   .columns = {kPoint},
                   .has_point = true,
                   .parts = {}};
  made.columns.insert(made.columns.end(), kSettings.begin(), kSettings.end());
  for (const record::Point& point : points) {
    std::string content = "key,value\n";
    for (const std::string& each : point.settings) {
      const Setting setting = parse_setting(each);
      result::append_csv(content, setting.key);
      content += ',';
      result::append_csv(content, setting.value);
      content += '\n';
    }
    made.parts.push_back({.point = point.folder,
                          .path = source.folder + "/run.json",
                          .content = std::move(content)});
  }
  return made;
}

}  // namespace

Setting parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return {.key = std::string(text), .value = ""};
  std::string_view value = text.substr(equals + 1);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return {.key = std::string(text.substr(0, equals)), .value = std::string(value)};
}

Source open_source(const std::string& folder) {
  Source source{.folder = folder,
                .file = record::read_run(folder),
                .is_sweep = false,
                .runs = {},
                .tables = {},
                .missing_tables = {},
                .notes = {}};
  if (!source.file.complete) source.notes.emplace_back("the run is not whole: it was cut short");
  const record::Run& summary = source.file.summary;
  source.is_sweep = summary.sweep && summary.points;
  source.runs = source.is_sweep
                    ? points_of(source, *summary.points)
                    : std::vector<RunPart>{{.point = "", .folder = folder, .file = source.file}};
  for (const result::Table& table : result::tables()) {
    if (table.name == "points" && !source.is_sweep) continue;
    TableSource made = table_of(source, table);
    if (made.parts.empty()) {
      source.missing_tables.push_back(made.name);
    } else {
      source.tables.push_back(std::move(made));
    }
  }
  if (source.is_sweep) source.tables.push_back(settings_of(source, *summary.points));
  return source;
}

const TableSource* find_table(const Source& source, std::string_view name) {
  for (const TableSource& table : source.tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

}  // namespace tw::timeline
