// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/nccl/perf_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tw::nccl {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 100'000;

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

}  // namespace

PerfFile parse_perf_json(std::string_view text, std::string_view name) {
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
