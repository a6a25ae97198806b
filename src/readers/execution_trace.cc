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
    for (Members each(pieces.value()); each.next();) {
      if (each.key() == "name") name = string_of(each.value());
      if (each.key() == "attrs") attributes = each.value();
    }
    if (name != "record_param_comms") continue;
    const KinetoFields fields = fields_in(attributes);
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
