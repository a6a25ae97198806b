// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/assignment.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::carrier {
namespace {

using nlohmann::json;

/// More than any run moves; sums of them do not overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

/// Throws where it is no whole number, or one that does not fit.
template <typename Number>
Number whole(const json& value) {
  if (!value.is_number_integer() || !std::in_range<Number>(value.get<std::int64_t>()) ||
      (value.is_number_unsigned() && !std::in_range<Number>(value.get<std::uint64_t>()))) {
    throw DataError(fmt::format("a carrier's number: {}",
                                value.dump(-1, ' ', true, json::error_handler_t::replace)));
  }
  return value.get<Number>();
}

bool is_count(const TcpCount& count) {
  return 0 <= count.sent && count.sent <= kMostBytes && 0 <= count.received &&
         count.received <= kMostBytes;
}

bool is_whole(const Assignment& assignment) {
  const auto is_rank = [&](int rank) { return 0 <= rank && rank < assignment.ranks; };
  return is_rank(assignment.rank) && assignment.patience.count() >= 0 &&
         std::ranges::all_of(assignment.wires, [&](const Wire& wire) {
           return is_rank(wire.rank) && wire.rank != assignment.rank && wire.lane >= 0;
         });
}

}  // namespace

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
    assignment.rank = whole<int>(document.at("rank"));
    assignment.ranks = whole<int>(document.at("ranks"));
    document.at("address").get_to(assignment.address);
    for (const json& wire : document.at("wires")) {
      assignment.wires.push_back({.rank = whole<int>(wire.at(0)), .lane = whole<int>(wire.at(1))});
    }
    assignment.patience = Duration(whole<std::int64_t>(document.at("patience_ns")));
    if (!is_whole(assignment))
      throw DataError("a carrier's assignment names ranks that are not there");
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
                        .sent = whole<std::int64_t>(c.at(2)),
                        .received = whole<std::int64_t>(c.at(3))});
    }
    if (!std::ranges::all_of(counts, is_count))
      throw DataError("a carrier's counts are not counts");
    return counts;
  } catch (const json::exception& error) {
    throw DataError(fmt::format("a carrier's counts: {}", error.what()));
  }
}

json to_json(const std::vector<Contact>& contacts) {
  json document = json::array();
  for (const Contact& contact : contacts) document.push_back({contact.address, contact.carrier});
  return document;
}

std::vector<Contact> contacts_from(const json& document) {
  try {
    std::vector<Contact> contacts;
    for (const json& contact : document) {
      contacts.push_back({.address = contact.at(0).get<std::string>(), .carrier = contact.at(1)});
    }
    return contacts;
  } catch (const json::exception& error) {
    throw DataError(fmt::format("a carrier's contacts: {}", error.what()));
  }
}

}  // namespace tw::carrier
