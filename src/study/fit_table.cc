// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/fit_table.h"

#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/base/units.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/record/run_file.h"
#include "trainwire/result/csv.h"
#include "trainwire/result/json_text.h"
#include "trainwire/tables/benchmark.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

namespace tw::study {
namespace {

/// Millions of rows; keeps a wrong path (a capture, a disk) from being read whole.
constexpr std::size_t kMostBytes = 256 << 20;
/// Each becomes a column of every row.
constexpr std::size_t kMostSettings = 64;

std::string read_all(const os::FileDescriptor& file, const std::string& name) {
  std::string text;
  std::array<std::byte, 1 << 16> buffer;
  while (true) {
    const std::ptrdiff_t count = os::read_some(file, buffer);
    if (count < 0) throw os::errno_error(fmt::format("reading {}", name), errno);
    if (count == 0) return text;
    text.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(count));
    if (text.size() > kMostBytes) {
      throw DataError(fmt::format("reading {}: larger than 256 MiB; is it a table?", name));
    }
  }
}

/// Numbers and texts of rows[], in the columns of the first.
std::vector<std::vector<std::string>> json_rows(std::string_view text, const std::string& name) {
  const auto document = result::parse_json(text);
  if (!document.is_object() || !document.contains("rows") || !document["rows"].is_array()) {
    throw DataError(fmt::format(
        "reading {}: no JSON document with rows[]; give CSV or what `bench exchange --json` prints",
        name));
  }
  std::vector<std::vector<std::string>> rows(1);
  for (const auto& object : document["rows"]) {
    if (!object.is_object())
      throw DataError(fmt::format("reading {}: rows[] has no objects", name));
    if (rows.size() == 1) {
      for (const auto& item : object.items()) rows.front().push_back(item.key());
    }
    std::vector<std::string> row;
    for (const std::string& key : rows.front()) {
      const auto value = object.value(key, nlohmann::ordered_json());
      row.push_back(value.is_string() ? value.get<std::string>()
                    : value.is_null() ? ""
                                      : value.dump());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void require_table(const FitTable& table) {
  std::set<std::string_view> names;
  for (const std::string& name : table.header) {
    if (names.insert(name).second) continue;
    throw DataError(fmt::format("reading {}: two columns are named \"{}\"", table.name, name));
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].size() == table.header.size()) continue;
    throw DataError(fmt::format("reading {}: row {} has {} fields where the header has {}",
                                table.name, i + 1, table.rows[i].size(), table.header.size()));
  }
  if (table.rows.empty()) {
    throw DataError(
        fmt::format("reading {}: there are no rows under the header{}", table.name,
                    table.is_sweep ? "; the command that began the sweep also finishes it" : ""));
  }
}

/// "a=1 b=two words" into keys and values: a word without "=" belongs to the value before it.
std::vector<std::pair<std::string, std::string>> settings_in(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> settings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = word.find('=');
    if (equals != word.npos) {
      settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    } else if (!settings.empty() && !word.empty()) {
      settings.back().second.append(" ").append(word);
    }
  }
  return settings;
}

void add_settings(FitTable& table) {
  const std::size_t from = *table.find("settings");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    for (auto& [key, value] : settings_in(table.rows[i][from])) {
      if (!table.find(key)) {
        if (table.settings.size() == kMostSettings) {
          throw DataError(fmt::format("reading {}: more than {} different settings; is it a sweep?",
                                      table.name, kMostSettings));
        }
        table.header.push_back(key);
        table.settings.push_back(key);
        for (auto& row : table.rows) row.emplace_back();
      }
      table.rows[i][*table.find(key)] = std::move(value);
    }
  }
}

FitTable benchmark_table(std::string_view text, const std::string& name) {
  const tables::Benchmark benchmark = tables::parse_benchmark(text, name);
  FitTable table{.name = name, .header = {"op", "ranks", "bytes", "time_s", "table"}};
  std::set<std::string> ops;
  std::set<int> ranks;
  std::set<std::pair<std::string, int>> kinds;
  std::size_t number = 0;
  for (const tables::Curve& curve : benchmark.curves) {
    ops.insert(curve.op);
    ranks.insert(curve.ranks);
    kinds.emplace(curve.op, curve.ranks);
    ++number;
    for (const tables::Row& row : curve.rows) {
      table.rows.push_back({curve.op, std::to_string(curve.ranks), std::to_string(row.bytes),
                            fmt::format("{:.9g}", row.time_s), std::to_string(number)});
    }
  }
  if (ops.size() > 1) table.settings.emplace_back("op");
  if (ranks.size() > 1) table.settings.emplace_back("ranks");
  // Two runs of one benchmark are two lines, not one through both.
  if (kinds.size() < number && benchmark.program != "iperf3") table.settings.emplace_back("table");
  return table;
}

FitTable read_sweep(const std::string& folder) {
  const std::string path = folder + "/points.csv";
  if (!std::filesystem::exists(path)) {
    throw DataError(
        fmt::format("reading {}: no sweep, for it has no points.csv; name the folder of a `run` "
                    "with a [sweep], or a CSV file",
                    folder));
  }
  if (record::is_run(folder) || record::is_cut_off(folder)) {
    record::require_unchanged(folder, record::read_run(folder));
  }
  FitTable table = parse_fit_table(read_all(os::open_to_read(path), path), path);
  if (!table.is_sweep) throw DataError(fmt::format("reading {}: not the points of a sweep", path));
  table.folder = folder;
  return table;
}

}  // namespace

std::optional<std::size_t> FitTable::find(std::string_view column) const {
  const auto found = std::find(header.begin(), header.end(), column);
  if (found == header.end()) return {};
  return static_cast<std::size_t>(found - header.begin());
}

std::optional<double> FitTable::number(std::size_t row, std::size_t column) const {
  const bool is_setting =
      std::find(settings.begin(), settings.end(), header[column]) != settings.end();
  return is_setting ? setting_in(rows[row][column]) : number_in(rows[row][column]);
}

std::size_t FitTable::column(std::string_view column, std::string_view option) const {
  if (const auto found = find(column)) return *found;
  const std::vector<std::string_view> known(header.begin(), header.end());
  const auto near = nearest(column, known);
  std::string all;
  for (const std::string& one : header) all += (all.empty() ? "" : ", ") + one;
  throw SpecError(fmt::format(
      "{}: {} has no column \"{}\"; {}", option, name, column,
      near ? fmt::format("did you mean \"{}\"?", *near) : fmt::format("it has {}", all)));
}

FitTable parse_fit_table(std::string_view text, const std::string& name) {
  if (!tables::program_of(text.substr(0, 64 << 10)).empty()) return benchmark_table(text, name);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != text.npos && text[begin] == '{';
  auto rows = json ? json_rows(text, name) : result::parse_csv(text, name);
  if (rows.empty()) throw DataError(fmt::format("reading {}: it is empty", name));
  FitTable table{.name = name};
  table.header = std::move(rows.front());
  rows.erase(rows.begin());
  table.rows = std::move(rows);
  table.is_sweep = table.find("folder") && table.find("settings") && table.find("complete");
  require_table(table);
  if (table.is_sweep) add_settings(table);
  return table;
}

FitTable read_fit_table(const std::string& source) {
  if (source == "-") {
    return parse_fit_table(read_all(os::duplicate_stdin(), "standard input"), "standard input");
  }
  if (std::filesystem::is_directory(source)) return read_sweep(source);
  return parse_fit_table(read_all(os::open_to_read(source), source), source);
}

std::optional<double> number_in(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<double> setting_in(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  if (const auto number = number_in(text)) return number;
  if (const auto share = parse_fraction(text)) return share;
  if (const auto rate = parse_rate(text)) return rate->bits_per_second();
  if (const auto time = parse_duration(text)) return seconds(*time);
  if (const auto size = parse_bytes(text)) return static_cast<double>(size->count());
  return {};
}

bool can_be_squared(double value) {
  return value == 0 || (std::abs(value) < 1e100 && std::abs(value) > 1e-100);
}

}  // namespace tw::study
