// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/execution_trace.h"

#include "trainwire/base/error.h"
#include "trainwire/chakra/et_file.h"
#include "trainwire/readers/json_pieces.h"
#include "trainwire/readers/kineto_fields.h"

#include <array>

namespace tw::readers {
namespace {

using operations::Operation;
using operations::Told;

constexpr std::size_t kMostOperations = 4'000'000;

/// "attrs": [{"name": "collective_name", "type": "string", "value": "allreduce"}, ...].
KinetoFields fields_in(std::string_view attributes) {
  KinetoFields fields;
  for (Elements each(attributes); each.next();) {
    std::string_view name;
    std::string_view value;
    for (Members of(each.value()); of.next();) {
      if (of.key() == "name") name = string_of(of.value());
      if (of.key() == "value") value = of.value();
    }
    if (name == "collective_name") fields.collective = string_of(value);
    if (name == "dtype") fields.dtype = string_of(value);
    if (name == "pg_name") fields.group = string_of(value);
    if (name == "in_msg_nelems") fields.in = whole_of(value);
    if (name == "out_msg_nelems") fields.out = whole_of(value);
    if (name == "pg_size") fields.group_size = whole_of(value);
  }
  return fields;
}

/// Elements of all tensors: 1024 and 256 of [[1024], [16, 16]].
std::optional<std::int64_t> elements_of(std::string_view shapes) {
  std::int64_t sum = 0;
  for (Elements tensor(shapes); tensor.next();) {
    std::optional<std::int64_t> size = 1;
    bool is_tensor = false;
    for (Elements side(tensor.value()); side.next() && size;) {
      const auto length = whole_of(side.value());
      size = length ? operations::product(*size, *length) : std::nullopt;
      is_tensor = true;
    }
    if (!size || *size > (std::int64_t{1} << 60) - sum) return {};
    if (is_tensor) sum += *size;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::string_view first_of(std::string_view array) {
  Elements elements(array);
  return elements.next() ? elements.value() : std::string_view();
}

/// What a collective was called with: tensors, ..., its name, ..., how many ranks there are.
struct Inputs {
  std::string_view values = {};
  std::string_view shapes = {};
  std::string_view types = {};
};

/// Before PyTorch 2.4 no attributes tell it. "types" begins with "GenericList[Tensor(float)]".
KinetoFields fields_in(const Inputs& inputs) {
  KinetoFields fields;
  for (Elements each(inputs.values); each.next();) {
    const std::string_view word = string_of(each.value());
    if (fields.collective.empty() && !operations::canonical_op(word).empty())
      fields.collective = word;
    if (const auto number = whole_of(each.value()); number && word.empty())
      fields.group_size = number;
  }
  fields.in = elements_of(first_of(inputs.shapes));
  const std::string_view type = string_of(first_of(inputs.types));
  const std::size_t open = type.find("Tensor(");
  if (open != std::string_view::npos)
    fields.dtype = type.substr(open + 7, type.find(')', open) - open - 7);
  return fields;
}

/// By the format's numbers.
constexpr std::array<std::string_view, 10> kCollectives{
    "all_reduce", "reduce",     "all_gather",     "gather",         "scatter",
    "broadcast",  "all_to_all", "reduce_scatter", "reduce_scatter", "barrier"};

std::string op_of(const chakra::Node& node) {
  if (node.type == chakra::NodeType::Send) return "send";
  if (node.type == chakra::NodeType::Receive) return "recv";
  if (node.type != chakra::NodeType::Collective || !node.collective) return {};
  const std::int64_t number = *node.collective;
  if (number < 0 || number >= static_cast<std::int64_t>(kCollectives.size())) return {};
  return std::string(kCollectives[static_cast<std::size_t>(number)]);
}

std::optional<int> rank_of(std::optional<std::int64_t> number) {
  return is_small(number) ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

void read_execution_trace(capture::ByteSource& source, Told& told) {
  operations::Skips skips;
  std::size_t nodes = 0;
  Pieces pieces(source, "nodes");
  while (pieces.next()) {
    if (!pieces.is_element()) continue;
    ++nodes;
    std::string_view name;
    std::string_view attributes;
    Inputs inputs;
    for (Members each(pieces.value()); each.next();) {
      if (each.key() == "name") name = string_of(each.value());
      if (each.key() == "attrs") attributes = each.value();
      if (each.key() == "input_shapes") inputs.shapes = each.value();
      if (each.key() == "input_types") inputs.types = each.value();
      if (each.key() == "inputs" && each.value().starts_with('[')) inputs.values = each.value();
      if (each.key() != "inputs" || !each.value().starts_with('{')) continue;
      for (Members of(each.value()); of.next();) {
        if (of.key() == "values") inputs.values = of.value();
        if (of.key() == "shapes") inputs.shapes = of.value();
        if (of.key() == "types") inputs.types = of.value();
      }
    }
    if (name != "record_param_comms") continue;
    KinetoFields fields = fields_in(attributes);
    if (fields.collective.empty()) fields = fields_in(inputs);
    Operation made;
    put_fields(fields, made);
    if (fields.collective == "wait" || fields.collective == "init") continue;
    if (made.op.empty() || told.operations.size() >= kMostOperations) {
      skips.add("collectives of which no attribute says what they do");
      continue;
    }
    made.sequence = static_cast<std::int64_t>(told.operations.size());
    told.operations.push_back(std::move(made));
  }
  told.records = told.operations.size();
  skips.write_to(told);
  told.reasons.emplace_back(
      "an execution trace tells what was asked for, not when: torch.profiler's trace does");
  if (pieces.ended_early())
    told.reasons.emplace_back("the file ends in the middle; what is before was used");
  if (told.operations.empty())
    told.reasons.push_back("no collective among " + std::to_string(nodes) + " nodes");
}

void read_chakra(std::string_view bytes, Told& told) {
  operations::Skips skips;
  try {
    const chakra::EtFile file = chakra::parse_et(bytes, told.path);
    for (const chakra::Node& node : file.nodes) {
      const bool is_message =
          node.type == chakra::NodeType::Send || node.type == chakra::NodeType::Receive;
      if (!is_message && node.type != chakra::NodeType::Collective) continue;
      std::string op = op_of(node);
      if (!node.bytes || *node.bytes < 0 || op.empty()) {
        skips.add("collectives without a size (shadows of the host)");
        continue;
      }
      told.operations.push_back(
          {.group = node.group,
           .op = std::move(op),
           .sequence = static_cast<std::int64_t>(told.operations.size()),
           .bytes = node.bytes,
           .peer = rank_of(node.type == chakra::NodeType::Send ? node.to : node.from)});
    }
    if (file.cut_off)
      told.reasons.emplace_back("the file ends in the middle; what is before was used");
    if (told.operations.empty())
      told.reasons.push_back("no collective with a size among " +
                             std::to_string(file.nodes.size()) + " nodes");
  } catch (const DataError& error) {
    told.reasons.emplace_back(error.what());
  }
  told.records = told.operations.size();
  skips.write_to(told);
}

}  // namespace tw::readers
