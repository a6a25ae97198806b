// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/fields.h"
#include "trainwire/spec/links.h"
#include "trainwire/spec/print.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tw::spec {
namespace {

using Json = nlohmann::ordered_json;

// Derived lists longer than this are told by their length alone.
constexpr std::size_t kLongList = 1000;

struct ToJson {
  Json operator()(keys::Absent) const { return nullptr; }
  Json operator()(const keys::List& list) const {
    Json array = Json::array();
    for (const keys::Node& node : list) array.push_back(std::visit(*this, node.value));
    return array;
  }
  Json operator()(const keys::Table& table) const {
    Json object = Json::object();
    for (const keys::Entry& entry : table) object[entry.key] = std::visit(*this, entry.node.value);
    return object;
  }
  Json operator()(const auto& scalar) const { return scalar; }
};

Json setting(const Held& held) {
  const auto* list = std::get_if<keys::List>(&held.measured.value);
  if (list != nullptr && list->size() > kLongList && held.origin == Origin::Derived) {
    return {{"value", nullptr}, {"count", list->size()}, {"origin", name(held.origin)}};
  }
  return {{"value", std::visit(ToJson{}, held.measured.value)}, {"origin", name(held.origin)}};
}

template <typename S>
Json section(const std::vector<Field<S>>& fields, const S& from) {
  Json object = Json::object();
  for (const Field<S>& field : fields) {
    if (const std::optional<Held> held = field.held(from)) {
      object[fmt::format("{}{}", field.key, field.suffix)] = setting(*held);
    }
  }
  return object;
}

template <typename S>
Json sections(const std::vector<Field<S>>& fields, const std::vector<S>& from) {
  Json array = Json::array();
  for (const S& one : from) array.push_back(section(fields, one));
  return array;
}

Json derived(std::int64_t value) { return {{"value", value}, {"origin", name(Origin::Derived)}}; }

Json network(const Network& network) {
  Json object = section(network_fields(), network);
  object["round_trip_ns"] = derived(longest_round_trip(network).count());
  object["queue_bytes"] = derived(queue_bytes(network, network.link).count());
  object["links"] = sections(link_fields(), network.overrides);
  return object;
}

Json sweep(const std::vector<SweepAxis>& axes) {
  Json array = Json::array();
  for (const SweepAxis& axis : axes) {
    array.push_back({{"key", axis.key}, {"values", axis.values}, {"group", axis.group}});
  }
  return array;
}

Json value_of(const Json& section, const char* key) {
  const auto held = section.find(key);
  return held != section.end() && held->is_object() ? held->value("value", Json()) : Json();
}

std::string text_of(const Json& section, const char* key) {
  const Json value = value_of(section, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<double> number_of(const Json& section, const char* key) {
  const Json value = value_of(section, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

}  // namespace

Json to_json(const Experiment& experiment) {
  Json document = section(experiment_fields(), experiment);
  document["network"] = network(experiment.network);
  document["jobs"] = sections(job_fields(), experiment.jobs);
  document["traffic"] = sections(traffic_fields(), experiment.traffic);
  document["faults"] = sections(fault_fields(), experiment.faults);
  document["capture"] = section(capture_fields(), experiment.capture);
  document["run"] = section(run_fields(), experiment.run);
  document["sweep"] = sweep(experiment.sweep);
  document["expectations"] = sections(expectation_fields(), experiment.expectations);
  return document;
}

std::vector<Expectation> expectations_in(const Json& experiment) {
  std::vector<Expectation> expectations;
  const auto list = experiment.is_object() ? experiment.find("expectations") : experiment.end();
  if (list == experiment.end() || !list->is_array()) return expectations;
  for (const Json& section : *list) {
    if (!section.is_object()) continue;
    Expectation one{.of = text_of(section, "of"),
                    .metric = text_of(section, "metric"),
                    .equals = number_of(section, "equals"),
                    .at_least = number_of(section, "at_least"),
                    .at_most = number_of(section, "at_most")};
    if (const auto tolerance = number_of(section, "tolerance")) one.tolerance = *tolerance;
    if (one.equals || one.at_least || one.at_most) expectations.push_back(std::move(one));
  }
  return expectations;
}

}  // namespace tw::spec
