// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/task.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tw::traffic {
namespace {

using nlohmann::json;
using spec::TrafficKind;

transport::tcp::Token token_at(const json& d) {
  const auto token = transport::tcp::parse_token(d.at("token").get<std::string>());
  if (!token) throw DataError("a traffic task: its token is none");
  return *token;
}

TrafficKind kind_at(const json& d) {
  const auto kind = kind_named(d.at("kind").get<std::string>());
  if (!kind) throw DataError("a traffic task: there is no such kind");
  return *kind;
}

/// What is absent keeps its default.
template <typename Value>
void read(const json& d, const char* key, Value& into) {
  if (d.contains(key)) d.at(key).get_to(into);
}

void read_seconds(const json& d, const char* key, Duration& into) {
  if (d.contains(key)) into = from_seconds(d.at(key).get<double>());
}

std::vector<load::Flow> flows_from(const json& list) {
  std::vector<load::Flow> flows;
  for (const json& flow : list) {
    flows.push_back({.start = Duration(flow.at(0).get<std::int64_t>()),
                     .destination = flow.at(1).get<std::string>(),
                     .size = Bytes(flow.at(2).get<std::int64_t>())});
  }
  const bool sorted =
      std::is_sorted(flows.begin(), flows.end(),
                     [](const load::Flow& a, const load::Flow& b) { return a.start < b.start; });
  if (!sorted) throw DataError("a traffic task: its flows are not in the order of their starts");
  return flows;
}

SinkTask sink_task(const json& d) {
  SinkTask task{.address = d.at("address").get<std::string>(), .token = token_at(d)};
  read(d, "port", task.port);
  read(d, "threads", task.threads);
  read_seconds(d, "stranger_patience_s", task.stranger_patience);
  return task;
}

SourceTask source_task(const json& d) {
  SourceTask task{
      .address = d.at("address").get<std::string>(), .token = token_at(d), .kind = kind_at(d)};
  if (d.contains("rate_bps")) task.rate = BitRate(d.at("rate_bps").get<double>());
  read(d, "flows", task.flows);
  read(d, "distribution", task.distribution);
  read(d, "size_scale", task.size_scale);
  read_seconds(d, "burst_width_s", task.burst_width);
  read(d, "burst_height", task.burst_height);
  read_seconds(d, "period_s", task.period);
  read(d, "reuse", task.reuse);
  read(d, "seed", task.seed);
  read(d, "stream", task.stream);
  read_seconds(d, "start_s", task.start);
  if (d.contains("duration_s") && !d.at("duration_s").is_null()) {
    task.duration = from_seconds(d.at("duration_s").get<double>());
  }
  if (d.contains("list")) task.list = flows_from(d.at("list"));
  read(d, "load_file", task.load_file);
  if (d.contains("only_to") && !d.at("only_to").is_null()) {
    task.only_to = d.at("only_to").get<std::string>();
  }
  read(d, "congestion_control", task.congestion_control);
  read(d, "mtu", task.mtu);
  read(d, "threads", task.threads);
  read(d, "log", task.log);
  return task;
}

}  // namespace

json to_json(const SinkTask& task) {
  return {{"role", "sink"},
          {"address", task.address},
          {"token", transport::tcp::text_of(task.token)},
          {"port", task.port},
          {"threads", task.threads},
          {"stranger_patience_s", seconds(task.stranger_patience)}};
}

json to_json(const SourceTask& task) {
  json list = json::array();
  for (const load::Flow& flow : task.list) {
    list.push_back({flow.start.count(), flow.destination, flow.size.count()});
  }
  return {{"role", "source"},
          {"address", task.address},
          {"token", transport::tcp::text_of(task.token)},
          {"kind", name_of(task.kind)},
          {"rate_bps", task.rate.bits_per_second()},
          {"flows", task.flows},
          {"distribution", task.distribution},
          {"size_scale", task.size_scale},
          {"burst_width_s", seconds(task.burst_width)},
          {"burst_height", task.burst_height},
          {"period_s", seconds(task.period)},
          {"reuse", task.reuse},
          {"seed", task.seed},
          {"stream", task.stream},
          {"start_s", seconds(task.start)},
          {"duration_s", task.duration ? json(seconds(*task.duration)) : json()},
          {"list", list},
          {"load_file", task.load_file},
          {"only_to", task.only_to ? json(*task.only_to) : json()},
          {"congestion_control", task.congestion_control},
          {"mtu", task.mtu},
          {"threads", task.threads},
          {"log", task.log}};
}

std::variant<SinkTask, SourceTask> task_from(const json& document) {
  try {
    const auto role = document.at("role").get<std::string>();
    if (role == "sink") return sink_task(document);
    if (role == "source") return source_task(document);
    throw DataError(fmt::format("a traffic task: there is no role \"{}\"", role));
  } catch (const json::exception& error) {
    throw DataError(fmt::format("a traffic task: {}", error.what()));
  }
}

}  // namespace tw::traffic
