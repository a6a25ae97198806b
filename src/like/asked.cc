// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/keys/tree.h"
#include "trainwire/like/like.h"
#include "trainwire/spec/fields.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace tw::like {
namespace {

constexpr std::string_view kName = "the record's experiment";

/// Nothing where the number is out of what experiments may say: parse() then misses the unit.
std::string with_unit(double value, std::string_view suffix) {
  if (suffix == "_bps") return fmt::format("{}bit", value);
  return fmt::format("{}ns", std::llround(value));
}

/// {"bdp": 1, "bytes": 262144} of a queue, {"share": 0.5} or {"rate_bps": 1e9} of a load.
keys::Node written(const record::Value& measured) {
  const auto bdp = number_of(find(measured, "bdp"));
  const auto bytes = number_of(find(measured, "bytes"));
  if (bdp && bytes) return {.value = fmt::format("max({}bdp, {:.0f})", *bdp, *bytes)};
  if (bdp) return {.value = fmt::format("{}bdp", *bdp)};
  if (bytes) return {.value = std::int64_t{std::llround(*bytes)}};
  if (const auto share = number_of(find(measured, "share"))) return {.value = *share};
  if (const auto rate = number_of(find(measured, "rate_bps"))) {
    return {.value = with_unit(*rate, "_bps")};
  }
  return {};
}

/// A value of to_json() as the file would say it.
struct Written {
  std::string_view suffix;

  keys::Node operator()(const record::Nothing&) const { return {}; }
  keys::Node operator()(bool flag) const { return {.value = flag}; }
  keys::Node operator()(std::int64_t number) const {
    if (suffix == "_ns" || suffix == "_bps") return (*this)(static_cast<double>(number));
    return {.value = number};
  }
  keys::Node operator()(std::uint64_t number) const {
    return (*this)(static_cast<std::int64_t>(number));
  }
  keys::Node operator()(double number) const {
    if (suffix.empty()) return {.value = number};
    return {.value = with_unit(number, suffix)};
  }
  keys::Node operator()(const std::string& text) const { return {.value = text}; }
  keys::Node operator()(const record::List& list) const {
    keys::List made;
    for (const record::Value& value : list) made.push_back(std::visit(*this, value.is));
    return {.value = std::move(made)};
  }
  keys::Node operator()(const record::Members& members) const { return written({.is = members}); }
};

/// The lines of a section that somebody wrote: a file, or --set.
template <typename S>
std::string said(const std::vector<spec::Field<S>>& fields, const record::Value& section) {
  std::string lines;
  for (const spec::Field<S>& field : fields) {
    const record::Value* held = find(section, fmt::format("{}{}", field.key, field.suffix));
    const record::Value* value = held != nullptr ? find(*held, "value") : nullptr;
    const std::string origin =
        held != nullptr ? text_of(find(*held, "origin")).value_or("") : std::string();
    if (value == nullptr || (origin != "file" && origin != "override")) continue;
    const keys::Node node = std::visit(Written{field.suffix}, value->is);
    if (std::holds_alternative<keys::Absent>(node.value)) continue;
    lines += fmt::format("{} = {}\n", field.key, keys::print(node));
  }
  return lines;
}

template <typename S>
std::string all_said(std::string_view header, const std::vector<spec::Field<S>>& fields,
                     const record::Value* list) {
  std::string text;
  const auto* sections = list != nullptr ? std::get_if<record::List>(&list->is) : nullptr;
  if (sections == nullptr) return text;
  for (const record::Value& section : *sections) {
    text += fmt::format("\n[[{}]]\n{}", header, said(fields, section));
  }
  return text;
}

template <typename S>
std::string section_said(std::string_view header, const std::vector<spec::Field<S>>& fields,
                         const record::Value* section) {
  return section != nullptr ? fmt::format("\n[{}]\n{}", header, said(fields, *section)) : "";
}

}  // namespace

spec::Experiment asked_experiment(const record::Run& run) {
  if (!run.experiment) {
    throw DataError("the record has no experiment; only `run`, `sim` and `exec` leave one");
  }
  const record::Value& experiment = *run.experiment;
  std::string text = said(spec::experiment_fields(), experiment);
  text += section_said("network", spec::network_fields(), find(experiment, "network"));
  text += all_said("network.link", spec::link_fields(), find(experiment, "network.links"));
  text += all_said("job", spec::job_fields(), find(experiment, "jobs"));
  text += all_said("traffic", spec::traffic_fields(), find(experiment, "traffic"));
  text += all_said("fault", spec::fault_fields(), find(experiment, "faults"));
  text += section_said("run", spec::run_fields(), find(experiment, "run"));
  return spec::parse(text, kName, workload::vocabulary());
}

}  // namespace tw::like
