// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/assignment.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

namespace tw::carrier {

using nlohmann::json;

json to_json(const Assignment& assignment) {
  json wires = json::array();
  for (const Wire& wire : assignment.wires) wires.push_back({wire.rank, wire.lane});
  return {{"rank", assignment.rank},
          {"ranks", assignment.ranks},
          {"address", assignment.address},
          {"wires", wires},
          {"patience_ns", assignment.patience.count()}};
}

Assignment assignment_from(const json& document) {
  try {
    Assignment assignment;
    document.at("rank").get_to(assignment.rank);
    document.at("ranks").get_to(assignment.ranks);
    document.at("address").get_to(assignment.address);
    for (const json& wire : document.at("wires")) {
      assignment.wires.push_back({.rank = wire.at(0).get<int>(), .lane = wire.at(1).get<int>()});
    }
    assignment.patience = Duration(document.at("patience_ns").get<std::int64_t>());
    return assignment;
  } catch (const json::exception& error) {
    throw DataError(fmt::format("a carrier's assignment: {}", error.what()));
  }
}

json to_json(const std::vector<TcpCount>& counts) {
  json document = json::array();
  for (const TcpCount& c : counts) document.push_back({c.from, c.to, c.sent, c.received});
  return document;
}

std::vector<TcpCount> tcp_counts_from(const json& document) {
  try {
    std::vector<TcpCount> counts;
    for (const json& c : document) {
      counts.push_back({.from = c.at(0).get<std::string>(),
                        .to = c.at(1).get<std::string>(),
                        .sent = c.at(2).get<std::int64_t>(),
                        .received = c.at(3).get<std::int64_t>()});
    }
    return counts;
  } catch (const json::exception& error) {
    throw DataError(fmt::format("a carrier's counts: {}", error.what()));
  }
}

}  // namespace tw::carrier
