// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/flow_rows.h"

#include "trainwire/base/natural.h"
#include "trainwire/report/packed.h"
#include "trainwire/report/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace tw::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLeastCells = 32;
constexpr std::size_t kMostCells = 1024;

double since_s(std::int64_t time_ns, std::int64_t origin_ns) {
  return static_cast<double>(time_ns - origin_ns) * 1e-9;
}

std::int64_t since_us(std::int64_t time_ns, std::int64_t origin_ns) {
  return (time_ns - origin_ns) / 1000;
}

std::string endpoint(const std::string& address, const std::string& port) {
  if (port.empty() || port == "0") return address;
  const bool is_version_6 = address.find(':') != address.npos;
  return is_version_6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

/// Equal cells that cover all series.
struct Cells {
  std::int64_t start_ns = 0;
  std::int64_t width_ns = 1;
};

Cells cells_of(const std::map<std::int64_t, Series>& series, std::size_t count) {
  TimeSpan span;
  std::int64_t window_ns = 1;
  for (const auto& [number, each] : series) {
    span.include(each.windows.front().start_ns);
    span.include(each.windows.back().start_ns + each.width_ns);
    window_ns = std::max(window_ns, each.width_ns);
  }
  if (span.empty()) return {};
  // Whole windows, so that none lies in two cells.
  const std::int64_t windows = (span.to_ns - span.from_ns + window_ns - 1) / window_ns;
  const auto most = static_cast<std::int64_t>(count);
  return {.start_ns = span.from_ns, .width_ns = window_ns * ((windows + most - 1) / most)};
}

void add_rates(ordered_json& row, const Series& series, const Cells& cells) {
  const auto cell = [&](const Window& window) {
    return (window.start_ns - cells.start_ns) / cells.width_ns;
  };
  const std::int64_t first = cell(series.windows.front());
  std::vector<double> rates(static_cast<std::size_t>(cell(series.windows.back()) - first + 1), 0);
  for (const Window& window : series.windows) {
    rates[static_cast<std::size_t>(cell(window) - first)] +=
        static_cast<double>(window.bytes) * 8e9 / static_cast<double>(cells.width_ns);
  }
  row["cell"] = first;
  row["rates"] = packed(rates);
}

struct Transfer {
  std::int64_t iteration;
  std::pair<std::string, std::string> pair;
  std::int64_t bytes, first_ns, last_ns;
};

std::vector<Transfer> read_transfers(result::TableReader& table) {
  std::vector<Transfer> list;
  const auto number = table.column("iteration"), from = table.column("from");
  const auto to = table.column("to"), size = table.column("gradient_bytes");
  const auto first = table.column("first_ns"), last = table.column("last_ns");
  while (table.next()) {
    const auto iteration = table.integer(number), bytes = table.integer(size);
    const auto first_ns = table.time_ns(first), last_ns = table.time_ns(last);
    if (!iteration || !bytes || *bytes < 0 || !first_ns || !last_ns || *last_ns < *first_ns)
      continue;
    list.push_back({*iteration,
                    {std::string(table.text(from)), std::string(table.text(to))},
                    *bytes,
                    *first_ns,
                    *last_ns});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Transfer& a, const Transfer& b) { return a.iteration < b.iteration; });
  return list;
}

using Pair = std::pair<std::string, std::string>;

struct PairLess {
  bool operator()(const Pair& a, const Pair& b) const {
    return a.first == b.first ? NaturalLess()(a.second, b.second) : NaturalLess()(a.first, b.first);
  }
};
using NumberedPairs = std::map<Pair, std::size_t, PairLess>;

/// Numbers of the pairs that carried the most, in the order of their names.
NumberedPairs numbered_pairs(const std::vector<Transfer>& transfers, std::size_t most,
                             std::size_t& left_off) {
  std::map<std::pair<std::string, std::string>, std::int64_t> carried;
  for (const Transfer& transfer : transfers) {
    carried[transfer.pair] = sum_of(carried[transfer.pair], transfer.bytes);
  }
  std::vector<std::pair<std::int64_t, std::pair<std::string, std::string>>> largest;
  for (const auto& [pair, bytes] : carried) largest.emplace_back(-bytes, pair);
  std::sort(largest.begin(), largest.end());
  left_off = largest.size() - std::min(most, largest.size());
  largest.resize(largest.size() - left_off);
  NumberedPairs numbers;
  for (const auto& [bytes, pair] : largest) numbers.emplace(pair, 0);
  std::size_t next = 0;
  for (auto& [pair, number] : numbers) number = next++;
  return numbers;
}

}  // namespace

std::set<std::int64_t> FlowRows::numbers() const {
  std::set<std::int64_t> all;
  for (const FlowRow& row : rows) all.insert(row.number);
  return all;
}

FlowRows read_flow_rows(result::TableReader& table, const Limits& limits) {
  FlowRows made;
  const auto number = table.column("flow"), bytes = table.column("wire_bytes");
  const auto first = table.column("first_ns"), last = table.column("last_ns");
  const auto text = [&](std::string_view name) {
    return std::string(table.text(table.column(name)));
  };
  while (table.next()) {
    const auto id = table.integer(number), count = table.integer(bytes);
    const auto first_ns = table.time_ns(first), last_ns = table.time_ns(last);
    if (!id || !count || *count < 0 || !first_ns || !last_ns || *last_ns < *first_ns) continue;
    made.rows.push_back({*id, text("source"), text("source_port"), text("destination"),
                         text("destination_port"), text("protocol"), text("class"), *first_ns,
                         *last_ns, *count});
  }
  const std::size_t kept = std::min(limits.flows, made.rows.size());
  made.left_off = made.rows.size() - kept;
  std::stable_sort(made.rows.begin(), made.rows.end(),
                   [](const FlowRow& a, const FlowRow& b) { return a.bytes > b.bytes; });
  for (std::size_t i = kept; i < made.rows.size(); ++i) {
    made.left_off_bytes = sum_of(made.left_off_bytes, made.rows[i].bytes);
  }
  made.rows.resize(kept);
  std::sort(made.rows.begin(), made.rows.end(), [](const FlowRow& a, const FlowRow& b) {
    if (a.source != b.source) return NaturalLess()(a.source, b.source);
    if (a.destination != b.destination) return NaturalLess()(a.destination, b.destination);
    return std::tie(a.first_ns, a.number) < std::tie(b.first_ns, b.number);
  });
  return made;
}

ordered_json flow_rows_document(const FlowRows& flows, const std::map<std::int64_t, Series>& series,
                                std::int64_t origin_ns, const Limits& limits) {
  if (flows.rows.empty()) return nullptr;
  const Cells cells =
      cells_of(series, std::clamp(limits.flow_cells / flows.rows.size(), kLeastCells, kMostCells));
  ordered_json rows = ordered_json::array();
  for (const FlowRow& flow : flows.rows) {
    ordered_json row{{"source", endpoint(flow.source, flow.source_port)},
                     {"destination", endpoint(flow.destination, flow.destination_port)},
                     {"protocol", flow.protocol},
                     {"class", flow.kind},
                     {"first_s", since_s(flow.first_ns, origin_ns)},
                     {"last_s", since_s(flow.last_ns, origin_ns)},
                     {"bytes", flow.bytes}};
    const auto found = series.find(flow.number);
    if (found != series.end()) add_rates(row, found->second, cells);
    rows.push_back(std::move(row));
  }
  return {{"start_s", since_s(cells.start_ns, origin_ns)},
          {"cell_s", static_cast<double>(cells.width_ns) * 1e-9},
          {"left_off", flows.left_off},
          {"left_off_bytes", flows.left_off_bytes},
          {"rows", std::move(rows)}};
}

ordered_json transfers_document(result::TableReader& table, std::int64_t origin_ns,
                                const Limits& limits) {
  const std::vector<Transfer> all = read_transfers(table);
  if (all.empty()) return nullptr;
  std::size_t left_off = 0;
  const auto pairs = numbered_pairs(all, limits.flows, left_off);
  std::vector<double> sizes;
  std::set<std::int64_t> iterations;
  for (const Transfer& transfer : all) {
    sizes.push_back(static_cast<double>(transfer.bytes));
    iterations.insert(transfer.iteration);
  }
  std::vector<std::int64_t> iteration, bytes, start, length;
  std::vector<std::size_t> pair;
  for (const Transfer& transfer : all) {
    const bool is_next = iteration.empty() || transfer.iteration != iteration.back();
    // Whole iterations: a new one is begun only where one as large as the last still fits.
    if (is_next && iteration.size() + pairs.size() > limits.transfers && !iteration.empty()) break;
    const auto found = pairs.find(transfer.pair);
    if (found == pairs.end()) continue;
    iteration.push_back(transfer.iteration);
    pair.push_back(found->second);
    bytes.push_back(transfer.bytes);
    start.push_back(since_us(transfer.first_ns, origin_ns));
    length.push_back((transfer.last_ns - transfer.first_ns) / 1000);
  }
  ordered_json names = ordered_json::array();
  for (const auto& [name, number] : pairs) names.push_back({name.first, name.second});
  return {{"pairs", std::move(names)},
          {"iteration", iteration},
          {"pair", pair},
          {"bytes", bytes},
          {"start_us", start},
          {"length_us", length},
          {"iterations", iterations.size()},
          {"left_off_pairs", left_off},
          {"sizes", distribution(std::move(sizes), limits.quantiles)}};
}

ordered_json iterations_document(result::TableReader& table, std::int64_t origin_ns,
                                 const Limits& limits) {
  const auto start = table.column("start_ns"), end = table.column("end_ns");
  const auto exchange = table.column("exchange_start_ns");
  std::vector<std::int64_t> starts, ends, exchanges;
  std::size_t count = 0;
  while (table.next()) {
    const auto start_ns = table.time_ns(start), end_ns = table.time_ns(end);
    if (!start_ns || !end_ns || *end_ns < *start_ns) continue;
    if (++count > limits.steps) continue;
    starts.push_back(since_us(*start_ns, origin_ns));
    ends.push_back(since_us(*end_ns, origin_ns));
    exchanges.push_back(since_us(table.time_ns(exchange).value_or(*start_ns), origin_ns));
  }
  if (count == 0) return nullptr;
  return {{"start_us", starts},
          {"end_us", ends},
          {"middle_us", exchanges[exchanges.size() / 2]},
          {"count", count}};
}

}  // namespace tw::report
