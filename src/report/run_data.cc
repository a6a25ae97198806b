// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/run_data.h"

#include "trainwire/base/error.h"
#include "trainwire/record/fault_words.h"
#include "trainwire/record/run_file.h"
#include "trainwire/report/flow_rows.h"
#include "trainwire/report/flows.h"
#include "trainwire/report/health.h"
#include "trainwire/report/packed.h"
#include "trainwire/report/phases.h"
#include "trainwire/report/reduce.h"
#include "trainwire/report/swept.h"
#include "trainwire/report/throughput.h"
#include "trainwire/result/json_text.h"
#include "trainwire/result/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace tw::report {
namespace {

using nlohmann::ordered_json;

std::vector<double> finite(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

/// One series of times, its distribution, and its median as the record has it; null without times.
ordered_json times_document(const std::vector<double>& times_s, std::optional<double> median_s,
                            const Limits& limits) {
  const std::vector<double> times = finite(times_s);
  if (times.empty()) return nullptr;
  return {{"median_s", number_or_null(median_s)},
          {"series", thinned(times, limits.steps)},
          {"distribution", distribution(times, limits.quantiles)}};
}

ordered_json times_document(const std::optional<record::Times>& times, const Limits& limits) {
  return times ? times_document(times->times_s, times->median_s, limits) : ordered_json();
}

/// Step times of every job that logged them, or else the iterations that the capture shows.
ordered_json step_times(const record::Run& run, const Limits& limits) {
  ordered_json list = ordered_json::array();
  for (const record::Job& job : run.jobs) {
    ordered_json step = times_document(job.step, limits);
    if (step.is_null() || list.size() >= limits.list_items) continue;
    list.push_back({{"name", text_or_null(job.name)},
                    {"source", "log"},
                    {"step", std::move(step)},
                    {"exchange", times_document(job.exchange, limits)}});
  }
  if (!list.empty() || !run.iterations) return list;
  ordered_json step = times_document(run.iterations->times_s, run.iterations->median_s, limits);
  if (step.is_null()) return list;
  list.push_back({{"name", nullptr},
                  {"source", text_or_null(run.iterations->source)},
                  {"step", std::move(step)},
                  {"exchange", nullptr}});
  return list;
}

/// The tables of one folder, opened by name.
class Tables {
 public:
  Tables(std::string folder, ordered_json& notes) : folder_(std::move(folder)), notes_(&notes) {}

  std::string path(std::string_view name) const { return fmt::format("{}/{}.csv", folder_, name); }

  /// Null when the table is missing or empty, else what `make` makes of it.
  ordered_json read(std::string_view name,
                    const std::function<ordered_json(result::TableReader&)>& make) {
    std::ifstream file = result::open_table(path(name));
    if (!file || file.peek() == std::ifstream::traits_type::eof()) return nullptr;
    result::TableReader table(file);
    ordered_json made = make(table);
    if (table.skipped() > 0) {
      notes_->push_back(fmt::format("{}.csv: {} row{} not whole and left out", name,
                                    table.skipped(), table.skipped() == 1 ? " is" : "s are"));
    }
    return made;
  }

 private:
  std::string folder_;
  ordered_json* notes_;
};

/// When the run began: of whatever tells a time, the first.
std::int64_t origin_of(Tables& tables) {
  std::int64_t origin = INT64_MAX;
  static constexpr std::pair<const char*, const char*> kTimes[] = {
      {"windows", "start_ns"}, {"steps", "start_ns"}, {"iterations", "start_ns"}};
  for (const auto& [name, column] : kTimes) {
    tables.read(name, [&, column = column](result::TableReader& table) {
      const auto time = table.column(column);
      if (table.next()) origin = std::min(origin, table.time_ns(time).value_or(origin));
      return ordered_json();
    });
  }
  return origin == INT64_MAX ? 0 : origin;
}

ordered_json throughput(const std::vector<Series>& all, std::int64_t origin_ns,
                        const Limits& limits) {
  ordered_json list = ordered_json::array();
  for (const Series& series : all) {
    const bool total = series.group == "total";
    list.push_back(
        series_document(series, origin_ns, total ? limits.total_buckets : limits.series_buckets));
  }
  return list;
}

/// Pairs window by window around the middle iteration, or around the middle of what there is.
ordered_json close_up(const std::vector<Series>& all, const ordered_json& iterations,
                      std::int64_t origin_ns, const Limits& limits) {
  if (all.empty()) return nullptr;
  const std::vector<Window>& windows = all.front().windows;
  std::int64_t middle_ns = std::midpoint(windows.front().start_ns, windows.back().start_ns);
  if (iterations.is_object()) {
    middle_ns = origin_ns + iterations["middle_us"].get<std::int64_t>() * 1000;
  }
  // Near an end the stretch reaches further to the other side.
  const std::int64_t span_ns = windows.back().start_ns - windows.front().start_ns;
  const auto half_ns = static_cast<std::int64_t>(std::min(
      static_cast<double>(span_ns) / 2,
      static_cast<double>(limits.close_windows / 2) * static_cast<double>(all.front().width_ns)));
  const std::int64_t around_ns =
      std::clamp(middle_ns, windows.front().start_ns + half_ns, windows.back().start_ns - half_ns);
  ordered_json list = ordered_json::array();
  for (const Series& series : all) {
    if (series.group != "pair") continue;
    ordered_json close = close_document(series, origin_ns, around_ns, limits.close_windows);
    if (!close.is_null()) list.push_back(std::move(close));
  }
  return {{"middle_s", static_cast<double>(middle_ns - origin_ns) * 1e-9}, {"pairs", list}};
}

/// Columns by name, row by row; numbers where a field is one.
ordered_json whole_table(result::TableReader& table, const Limits& limits) {
  ordered_json rows = ordered_json::array();
  while (table.next() && rows.size() < limits.list_items * 4) {
    ordered_json row = ordered_json::object();
    for (std::size_t i = 0; i < table.header().size(); ++i) {
      const auto number = table.number(i);
      row[table.header()[i]] = number                  ? number_or_null(number)
                               : table.text(i).empty() ? ordered_json()
                                                       : ordered_json(table.row()[i]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

ordered_json fit_of(const std::string& folder) {
  ordered_json document = result::read_json(folder + "/fit.json");
  return document.is_object() ? document : ordered_json();
}

/// The summary as the page shows it: what broke stands before what else was found.
ordered_json shown_summary(const record::RunFile& file) {
  ordered_json summary = record::summary_without_times(file);
  if (file.summary.faults.empty() && file.summary.recoveries.empty()) return summary;
  ordered_json findings = ordered_json::array();
  for (const record::Fault& fault : file.summary.faults) {
    findings.push_back({{"text", record::fault_words(fault)},
                        {"severity", !fault.begin_s               ? "info"
                                     : record::cost_a_step(fault) ? "warning"
                                                                  : "notice"}});
  }
  for (const record::Recovery& recovery : file.summary.recoveries) {
    findings.push_back({{"text", record::recovery_words(recovery)}, {"severity", "warning"}});
  }
  for (ordered_json& finding : summary["findings"]) findings.push_back(std::move(finding));
  summary["findings"] = std::move(findings);
  return summary;
}

std::string label_of(const std::string& folder) {
  std::filesystem::path path(folder);
  if (path.filename().empty()) path = path.parent_path();
  if (path.filename() == "." || path.filename() == "..") path = std::filesystem::canonical(path);
  return path.filename().string();
}

/// What windows.csv tells, alone and with flows.csv.
void add_windows(ordered_json& data, Tables& tables, std::int64_t origin_ns, const Limits& limits) {
  FlowRows flows;
  tables.read("flows", [&](result::TableReader& table) {
    flows = read_flow_rows(table, limits);
    return ordered_json();
  });
  WindowTable windows;
  data["throughput"] = tables.read("windows", [&](result::TableReader& table) {
    windows = read_windows(table, flows.numbers(), limits);
    return throughput(windows.series, origin_ns, limits);
  });
  data["close"] = close_up(windows.series, data["iterations"], origin_ns, limits);
  data["flow_rows"] = flow_rows_document(flows, windows.flows, origin_ns, limits);
}

void add_tables(ordered_json& data, Tables& tables, const Limits& limits) {
  const std::int64_t origin = origin_of(tables);
  data["origin_ns"] = std::to_string(origin);
  data["iterations"] = tables.read("iterations", [&](result::TableReader& table) {
    return iterations_document(table, origin, limits);
  });
  add_windows(data, tables, origin, limits);
  data["transfers"] = tables.read("iteration_pairs", [&](result::TableReader& table) {
    return transfers_document(table, origin, limits);
  });
  data["phases"] = tables.read("steps", [&](result::TableReader& table) {
    const auto times = read_phases(table);
    return times.empty() ? ordered_json() : phases_document(times, origin, limits);
  });
  data["matrix"] = tables.read(
      "pairs", [&](result::TableReader& table) { return matrix_document(table, limits); });
  data["flows"] = tables.read(
      "flows", [&](result::TableReader& table) { return flows_document(table, limits); });
  data["cross_flows"] = tables.read("cross_flows", [&](result::TableReader& table) {
    return cross_flows_document(table, limits);
  });
  data["links"] =
      tables.read("links", [&](result::TableReader& table) { return whole_table(table, limits); });
  data["points"] =
      tables.read("points", [&](result::TableReader& table) { return whole_table(table, limits); });
  data["sockets"] = sockets_document(tables.path("sockets"), origin, limits);
  data["queues"] = queues_document(tables.path("samples"), origin, limits);
  data["load"] = load_document(tables.path("load"), origin, limits);
}

}  // namespace

ordered_json cut_to(const ordered_json& value, const Limits& limits) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() <= limits.text_bytes) return value;
    std::size_t end = limits.text_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "…";
  }
  ordered_json made = value;
  if (value.is_array() && value.size() > limits.list_items) {
    const auto most = static_cast<std::ptrdiff_t>(limits.list_items);
    made = ordered_json::array();
    std::copy(value.begin(), value.begin() + most, std::back_inserter(made));
  }
  if (!made.is_structured()) return made;
  for (ordered_json& part : made) part = cut_to(part, limits);
  return made;
}

ordered_json run_data(const std::string& folder, const Limits& limits) {
  const record::RunFile file = record::read_run(folder);
  ordered_json data{{"label", label_of(folder)},
                    {"path", folder},
                    {"command", text_or_null(file.command)},
                    {"complete", file.complete},
                    {"partial", file.partial ? ordered_json(*file.partial) : ordered_json()},
                    {"provenance", cut_to(record::provenance_document(file), limits)},
                    {"steps", step_times(file.summary, limits)}};
  data["summary"] = cut_to(shown_summary(file), limits);
  ordered_json notes = ordered_json::array();
  Tables tables(folder, notes);
  add_tables(data, tables, limits);
  data["sweep"] = swept_document(folder, file.summary, limits);
  data["fit"] = cut_to(fit_of(folder), limits);
  data["notes"] = std::move(notes);
  return data;
}

}  // namespace tw::report
