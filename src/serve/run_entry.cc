// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/run_entry.h"

#include "trainwire/record/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace tw::serve {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostJobs = 16;
constexpr std::size_t kMostTextBytes = 200;

/// Null too when there is no text, or more of it than a list can show.
ordered_json text_or_null(const std::optional<std::string>& text) {
  if (!text || text->empty() || text->size() > kMostTextBytes) return {};
  return *text;
}

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

std::vector<double> finite(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

ordered_json jobs_of(const std::vector<record::Job>& jobs, const record::Run& described) {
  ordered_json list = ordered_json::array();
  for (const record::Job& job : jobs) {
    if (list.size() >= kMostJobs) break;
    const record::Value* model = setting(described, fmt::format("jobs.{}.model", list.size()));
    list.push_back({{"name", text_or_null(job.name)},
                    {"model", text_or_null(text_of(model))},
                    {"strategy", text_or_null(job.strategy)},
                    {"ranks", job.ranks == 0 ? ordered_json() : ordered_json(job.ranks)}});
  }
  return list;
}

/// {"ok", "failed"}; null when nothing was checked.
ordered_json checks_of(std::ptrdiff_t ok, std::size_t all) {
  if (all == 0) return nullptr;
  return {{"ok", ok}, {"failed", static_cast<std::ptrdiff_t>(all) - ok}};
}

void add_sparkline(ordered_json& entry, const std::vector<double>& values, const char* of) {
  entry["sparkline"] =
      values.empty() ? ordered_json() : ordered_json(shortened(values, kSparklinePoints));
  entry["sparkline_of"] = values.empty() ? "" : of;
}

/// Of the first job.
std::optional<double> step_mean_s(const std::vector<record::Job>& jobs) {
  return jobs.empty() || !jobs.front().step ? std::nullopt : jobs.front().step->mean_s;
}

void add_sweep(ordered_json& entry, const std::vector<record::Point>& points,
               const record::Run& described) {
  if (!points.empty()) entry["jobs"] = jobs_of(points.front().jobs, described);
  entry["points"] = points.size();
  entry["checks"] = checks_of(std::count_if(points.begin(), points.end(),
                                            [](const auto& point) { return point.checks_ok; }),
                              points.size());
  std::vector<double> means;
  for (const record::Point& point : points) {
    if (const auto mean = step_mean_s(point.jobs)) means.push_back(*mean);
  }
  add_sparkline(entry, means, "mean step time of each point, s");
}

void add_run(ordered_json& entry, const record::Run& run, const record::Run& described) {
  const record::Iterations seen = run.iterations.value_or(record::Iterations{});
  const record::Job first = run.jobs.empty() ? record::Job{} : run.jobs.front();
  entry["jobs"] = jobs_of(run.jobs, described);
  entry["checks"] = checks_of(std::count_if(run.checks.begin(), run.checks.end(),
                                            [](const record::Check& check) { return check.ok; }),
                              run.checks.size());
  const auto mean = step_mean_s(run.jobs);
  entry["step_mean_s"] = or_null(mean ? mean : seen.mean_s);
  if (first.steps || run.iterations) entry["steps"] = first.steps.value_or(seen.count);
  if (run.duration_s || run.capture) {
    entry["duration_s"] = run.duration_s ? *run.duration_s : run.capture->duration_s;
  }
  const std::vector<double> logged =
      first.step ? finite(first.step->times_s) : std::vector<double>();
  add_sparkline(entry, logged.empty() ? finite(seen.times_s) : logged, "step times, s");
}

ordered_json hosts_of(const record::Run& run, const record::Run& described) {
  const record::Value* asked = setting(described, "network.hosts");
  if (number_of(asked)) return record::to_json(*asked);
  return run.hosts.empty() ? ordered_json() : ordered_json(run.hosts.size());
}

}  // namespace

ordered_json run_entry(const record::RunFile& file, const record::Run& described) {
  const record::Run& run = file.summary;
  ordered_json entry{
      {"command", text_or_null(file.command)},
      {"name", text_or_null(text_of(setting(described, "name")))},
      {"started", text_or_null(file.provenance.value_or(record::Provenance{}).started)},
      {"jobs", ordered_json::array()},
      {"hosts", hosts_of(run, described)},
      {"points", nullptr},
      {"step_mean_s", nullptr},
      {"steps", nullptr},
      {"duration_s", nullptr},
      {"checks", nullptr}};
  if (run.points) {
    add_sweep(entry, *run.points, described);
  } else {
    add_run(entry, run, described);
  }
  return entry;
}

void add_live(ordered_json& entry, const record::LiveLines& told) {
  if (told.header) {
    const record::LiveHeader& header = *told.header;
    if (entry["name"].is_null()) entry["name"] = text_or_null(header.name);
    if (entry["hosts"].is_null()) entry["hosts"] = header.hosts.size();
    for (const record::LiveJob& job : header.jobs) {
      if (entry["jobs"].size() >= std::min(header.jobs.size(), kMostJobs)) break;
      entry["jobs"].push_back({{"name", or_null(job.name)},
                               {"model", or_null(job.model)},
                               {"strategy", or_null(job.strategy)},
                               {"ranks", or_null(job.ranks)}});
    }
  }
  std::vector<double> sent;
  for (const record::LiveSample& sample : told.samples) {
    sent.push_back(std::accumulate(sample.sent_bps.begin(), sample.sent_bps.end(), 0.0));
  }
  if (entry["sparkline"].is_null()) add_sparkline(entry, sent, "sent by all hosts, bit/s");
}

std::vector<double> shortened(std::span<const double> values, std::size_t most) {
  const std::size_t per = (values.size() + most - 1) / std::max<std::size_t>(most, 1);
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += per) {
    const std::span<const double> part = values.subspan(i, std::min(per, values.size() - i));
    means.push_back(std::accumulate(part.begin(), part.end(), 0.0) /
                    static_cast<double>(part.size()));
  }
  return means;
}

}  // namespace tw::serve
