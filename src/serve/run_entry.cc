// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/run_entry.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace tw::serve {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostJobs = 16;
constexpr std::size_t kMostTextBytes = 200;

const ordered_json& null_value() {
  static const ordered_json value;
  return value;
}

const ordered_json& empty_list() {
  static const ordered_json list = ordered_json::array();
  return list;
}

/// Null when it is not there. REQUIRES: `from` outlives what is returned.
const ordered_json& in(const ordered_json& from, const char* pointer) {
  const ordered_json::json_pointer place(pointer);
  return from.contains(place) ? from.at(place) : null_value();
}

ordered_json text_or_null(const ordered_json& value) {
  if (!value.is_string() || value.get_ref<const std::string&>().size() > kMostTextBytes) return {};
  return value;
}

ordered_json number_or_null(const ordered_json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) return {};
  return value;
}

const ordered_json& list_or_empty(const ordered_json& value) {
  return value.is_array() ? value : empty_list();
}

std::vector<double> numbers(const ordered_json& list) {
  std::vector<double> found;
  for (const ordered_json& each : list_or_empty(list)) {
    if (!number_or_null(each).is_null()) found.push_back(each.get<double>());
  }
  return found;
}

/// The first that is there.
const ordered_json& first_of(const ordered_json& a, const ordered_json& b) {
  return a.is_null() ? b : a;
}

ordered_json jobs_of(const ordered_json& jobs, const ordered_json& experiment) {
  ordered_json list = ordered_json::array();
  const ordered_json& asked = list_or_empty(in(experiment, "/jobs"));
  for (const ordered_json& job : list_or_empty(jobs)) {
    if (list.size() >= kMostJobs) break;
    const ordered_json& settings = list.size() < asked.size() ? asked[list.size()] : null_value();
    list.push_back({{"name", text_or_null(in(job, "/name"))},
                    {"model", text_or_null(in(settings, "/model/value"))},
                    {"strategy", text_or_null(in(job, "/strategy"))},
                    {"ranks", number_or_null(in(job, "/ranks"))}});
  }
  return list;
}

/// {"ok", "failed"}; null when nothing was checked.
ordered_json checks_of(const ordered_json& list, const char* member) {
  int ok = 0;
  int failed = 0;
  for (const ordered_json& check : list_or_empty(list)) {
    ++(in(check, member) == true ? ok : failed);
  }
  return ok + failed == 0 ? ordered_json() : ordered_json{{"ok", ok}, {"failed", failed}};
}

void add_sparkline(ordered_json& entry, const std::vector<double>& values, const char* of) {
  entry["sparkline"] =
      values.empty() ? ordered_json() : ordered_json(shortened(values, kSparklinePoints));
  entry["sparkline_of"] = values.empty() ? "" : of;
}

void add_sweep(ordered_json& entry, const ordered_json& summary, const ordered_json& experiment) {
  const ordered_json& points = in(summary, "/points");
  entry["jobs"] = jobs_of(in(points, "/0/jobs"), experiment);
  entry["points"] = points.size();
  entry["checks"] = checks_of(points, "/checks_ok");
  std::vector<double> means;
  for (const ordered_json& point : points) {
    const ordered_json mean = number_or_null(in(point, "/jobs/0/step/mean_s"));
    if (!mean.is_null()) means.push_back(mean.get<double>());
  }
  add_sparkline(entry, means, "mean step time of each point, s");
}

void add_run(ordered_json& entry, const ordered_json& summary, const ordered_json& experiment) {
  entry["jobs"] = jobs_of(in(summary, "/jobs"), experiment);
  entry["points"] = nullptr;
  entry["checks"] = checks_of(in(summary, "/checks"), "/ok");
  entry["step_mean_s"] = number_or_null(
      first_of(in(summary, "/jobs/0/step/mean_s"), in(summary, "/iterations/mean_s")));
  entry["steps"] =
      number_or_null(first_of(in(summary, "/jobs/0/steps"), in(summary, "/iterations/count")));
  entry["duration_s"] =
      number_or_null(first_of(in(summary, "/duration_s"), in(summary, "/capture/duration_s")));
  const std::vector<double> logged = numbers(in(summary, "/jobs/0/step/times_s"));
  add_sparkline(entry, logged.empty() ? numbers(in(summary, "/iterations/times_s")) : logged,
                "step times, s");
}

ordered_json hosts_of(const ordered_json& summary, const ordered_json& experiment) {
  const ordered_json asked = number_or_null(in(experiment, "/network/hosts/value"));
  const ordered_json& seen = in(summary, "/hosts");
  return asked.is_null() && seen.is_array() ? ordered_json(seen.size()) : asked;
}

}  // namespace

ordered_json run_entry(const ordered_json& document, const ordered_json& experiment) {
  const ordered_json& summary = in(document, "/summary");
  ordered_json entry{{"command", text_or_null(in(document, "/command"))},
                     {"name", text_or_null(in(experiment, "/name/value"))},
                     {"started", text_or_null(in(document, "/provenance/started"))},
                     {"jobs", ordered_json::array()},
                     {"hosts", hosts_of(summary, experiment)},
                     {"points", nullptr},
                     {"step_mean_s", nullptr},
                     {"steps", nullptr},
                     {"duration_s", nullptr},
                     {"checks", nullptr}};
  if (in(summary, "/points").is_array()) {
    add_sweep(entry, summary, experiment);
  } else {
    add_run(entry, summary, experiment);
  }
  return entry;
}

void add_live(ordered_json& entry, const ordered_json& header, const ordered_json& samples) {
  if (header.is_object()) {
    if (entry["name"].is_null() && header["name"] != "") {
      entry["name"] = text_or_null(header["name"]);
    }
    if (entry["hosts"].is_null()) entry["hosts"] = header["hosts"].size();
    for (const ordered_json& job : header["jobs"]) {
      if (entry["jobs"].size() >= std::min(header["jobs"].size(), kMostJobs)) break;
      entry["jobs"].push_back({{"name", job["name"]},
                               {"model", job["model"]},
                               {"strategy", job["strategy"]},
                               {"ranks", job["ranks"]}});
    }
  }
  std::vector<double> sent;
  for (const ordered_json& sample : samples) {
    const std::vector<double> rates = numbers(sample["sent_bps"]);
    sent.push_back(std::accumulate(rates.begin(), rates.end(), 0.0));
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
