// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/json.h"

#include "trainwire/record/describe_run.h"

namespace tw::record {
namespace {

using nlohmann::ordered_json;

constexpr int kSchema = 1;

struct ToJson {
  ordered_json operator()(Nothing) const { return nullptr; }
  ordered_json operator()(const List& list) const {
    ordered_json array = ordered_json::array();
    for (const Value& value : list) array.push_back(std::visit(*this, value.is));
    return array;
  }
  ordered_json operator()(const Members& members) const {
    ordered_json object = ordered_json::object();
    for (const Member& member : members) object[member.name] = std::visit(*this, member.value.is);
    return object;
  }
  ordered_json operator()(const auto& scalar) const { return scalar; }
};

}  // namespace

ordered_json to_json(const Run& run) {
  ordered_json document{{"schema", kSchema}};
  JsonWriter writer(document);
  describe(writer, run);
  return document;
}

Run run_from(const ordered_json& document) {
  Run run;
  JsonReader::take(document, run);
  return run;
}

ordered_json to_json(const Value& value) { return std::visit(ToJson{}, value.is); }

Value value_from(const ordered_json& document) {
  if (document.is_boolean()) return {document.get<bool>()};
  if (document.is_number_float()) return {document.get<double>()};
  if (document.is_number_unsigned() &&
      !std::in_range<std::int64_t>(document.get<std::uint64_t>())) {
    return {document.get<std::uint64_t>()};
  }
  if (document.is_number_integer()) return {document.get<std::int64_t>()};
  if (document.is_string()) return {document.get<std::string>()};
  if (document.is_array()) {
    List list;
    for (const ordered_json& each : document) list.push_back(value_from(each));
    return {std::move(list)};
  }
  if (!document.is_object()) return {};
  Members members;
  for (const auto& [name, each] : document.items()) {
    members.push_back({.name = name, .value = value_from(each)});
  }
  return {std::move(members)};
}

ordered_json to_json(const CaptureFile& file) { return JsonWriter::of(file); }
ordered_json to_json(const std::vector<Count>& counts) { return JsonWriter::of(counts); }
ordered_json to_json(const Network& network) { return JsonWriter::of(network); }

std::string in_one_line(const Value& value) {
  return to_json(value).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string dumped(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string dumped(const Run& run) { return dumped(to_json(run)); }

}  // namespace tw::record
