// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/nccl/perf_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tw::nccl {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 100'000;
constexpr std::size_t kMostTables = 1'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_in(const json& object, const char* key, std::size_t most) {
  const json* found = member(object, key);
  if (found == nullptr || !found->is_string()) return {};
  return found->get_ref<const std::string&>().substr(0, most);
}

/// Numbers; "nan" and other words are none.
std::optional<double> number_in(const json& object, const char* key) {
  const json* found = member(object, key);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_in(const json& object, const char* key) {
  const auto value = number_in(object, key);
  if (!value || *value < 0 || *value > 9e18 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<Timed> timed_in(const json& row, const char* key) {
  const json* half = member(row, key);
  if (half == nullptr) return std::nullopt;
  const auto time = number_in(*half, "time");
  const auto algbw = number_in(*half, "alg_bw");
  const auto busbw = number_in(*half, "bus_bw");
  if (!time || !algbw || !busbw || *time < 1e-3 || *time > 1e12 || *algbw < 0 || *busbw < 0)
    return std::nullopt;
  return Timed{*time, *algbw, *busbw};
}

std::optional<PerfRow> row_in(const json& item) {
  const auto bytes = whole_in(item, "size");
  if (!bytes || *bytes > std::int64_t{1} << 50) return std::nullopt;
  PerfRow row{.bytes = *bytes,
              .count = whole_in(item, "count").value_or(0),
              .type = text_in(item, "type", 16),
              .out_of_place = timed_in(item, "out_of_place"),
              .in_place = timed_in(item, "in_place")};
  if (!row.out_of_place && !row.in_place) return std::nullopt;
  row.redop = text_in(item, "redop", 16);
  const auto root = number_in(item, "root");
  if (root && *root >= -1 && *root < 1e7) row.root = static_cast<std::int64_t>(*root);
  for (const char* half : {"out_of_place", "in_place"}) {
    const json* found = member(item, half);
    if (found == nullptr) continue;
    row.wrong += std::min<std::int64_t>(whole_in(*found, "nwrong").value_or(0), 1'000'000'000);
  }
  return row;
}

void take_devices(const json& document, PerfFile& file) {
  const json* config = member(document, "config");
  const json* devices = config == nullptr ? nullptr : member(*config, "devices");
  if (devices == nullptr || !devices->is_array()) return;
  for (const json& device : *devices) {
    const auto rank = whole_in(device, "rank");
    if (!rank || *rank != static_cast<std::int64_t>(file.hosts.size())) continue;
    file.hosts.push_back(text_in(device, "hostname", 255));
    if (file.device.empty()) file.device = printable(text_in(device, "device_info", 80));
  }
}

std::optional<Operation> operation_in(const json& document) {
  const json* arguments = member(document, "args");
  if (arguments == nullptr || !arguments->is_array() || arguments->empty()) return std::nullopt;
  const json& program = arguments->front();
  if (!program.is_string()) return std::nullopt;
  std::string_view name = program.get_ref<const std::string&>();
  if (const std::size_t slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  if (const std::size_t end = name.find("_perf"); end != name.npos) name = name.substr(0, end);
  return find_operation(name);
}

/// "AllReduce" as rccl-tests writes it.
std::optional<Operation> operation_called(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, Operation>, 7> kCalled{{
      {"AllReduce", Operation::AllReduce},
      {"AllGather", Operation::AllGather},
      {"ReduceScatter", Operation::ReduceScatter},
      {"Broadcast", Operation::Broadcast},
      {"Reduce", Operation::Reduce},
      {"AlltoAll", Operation::AllToAll},
      {"SendRecv", Operation::SendRecv},
  }};
  for (const auto& [called, operation] : kCalled) {
    if (name == called) return operation;
  }
  return std::nullopt;
}

/// rccl-tests' -Z json: {"algBw":0.05,"busBw":0.08,"gpus":4,"inPlace":0,"name":"AllReduce","size":1024,"time":19.2,"type":"float"}, each half
/// of a row by itself, on a line.
std::optional<PerfRow> half_in(const json& item) {
  const auto bytes = whole_in(item, "size");
  const auto time = number_in(item, "time");
  const auto algbw = number_in(item, "algBw");
  const auto busbw = number_in(item, "busBw");
  if (!bytes || *bytes > kMostBytes || !time || !algbw || !busbw || *time < 1e-3 || *time > 1e12 ||
      *algbw < 0 || *busbw < 0) {
    return std::nullopt;
  }
  PerfRow row{.bytes = *bytes, .count = 0, .type = text_in(item, "type", 16)};
  (whole_in(item, "inPlace") == 1 ? row.in_place : row.out_of_place) = Timed{*time, *algbw, *busbw};
  row.redop = text_in(item, "redop", 16);
  return row;
}

void take_half(const json& item, PerfFile& file) {
  auto half = half_in(item);
  if (!half) {
    ++file.unreadable;
    return;
  }
  const auto operation = operation_called(text_in(item, "name", 32));
  const auto ranks =
      static_cast<int>(std::min<std::int64_t>(whole_in(item, "gpus").value_or(0), 1 << 20));
  const bool goes_on = !file.tables.empty() && file.tables.back().operation == operation &&
                       file.tables.back().ranks == ranks;
  if (!goes_on) file.tables.push_back({.operation = operation, .ranks = ranks, .rows = {}});
  std::vector<PerfRow>& rows = file.tables.back().rows;
  const bool is_second = half->in_place && !rows.empty() && rows.back().bytes == half->bytes &&
                         rows.back().type == half->type && !rows.back().in_place;
  if (is_second) {
    rows.back().in_place = half->in_place;
  } else if (rows.size() < kMostRows) {
    rows.push_back(std::move(*half));
  }
}

/// Nothing where none of the lines is such a half.
std::optional<PerfFile> parse_halves(std::string_view text) {
  PerfFile file;
  for (std::size_t at = 0; at < text.size() && file.tables.size() < kMostTables;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.find("\"algBw\"") != line.npos) take_half(json::parse(line, nullptr, false), file);
  }
  return file.tables.empty() ? std::nullopt : std::optional(std::move(file));
}

}  // namespace

PerfFile parse_perf_json(std::string_view text, std::string_view name) {
  if (text.find("\"algBw\"") != text.npos) {
    if (auto halves = parse_halves(text)) return std::move(*halves);
  }
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    throw DataError(fmt::format(
        "reading {}: it begins as JSON and is none; was it written to its end?", printable(name)));
  }
  PerfFile file;
  take_devices(document, file);
  file.nccl_version = printable(text_in(document, "nccl_version", 40));
  PerfTable table{.operation = operation_in(document), .ranks = 0, .rows = {}};
  const json* results = member(document, "results");
  if (results != nullptr && results->is_array()) {
    for (const json& item : *results) {
      auto row = row_in(item);
      if (!row) ++file.unreadable;
      if (!row || table.rows.size() >= kMostRows) continue;
      table.rows.push_back(std::move(*row));
    }
  }
  if (table.rows.empty()) {
    throw DataError(fmt::format(
        "reading {}: JSON without nccl-tests' results (size, out_of_place{{time, alg_bw, bus_bw}})",
        printable(name)));
  }
  complete(table, file.hosts.size());
  file.tables.push_back(std::move(table));
  return file;
}

}  // namespace tw::nccl
