// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/matrix.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace tw::operations {
namespace {

constexpr double kMostOfAll = 0.6;  ///< of all bytes go round the circle
constexpr double kWorthCounting =
    0.1;  ///< of what the busiest host sends: less is no part of the job
constexpr std::size_t kFewestHosts = 3;

std::string size_text(std::uint64_t bytes) {
  return readable(Bytes(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX))));
}

struct Out {
  std::uint64_t bytes = 0;
  const record::Pair* largest = nullptr;
};

/// Of hosts that send enough to be part of the job.
std::map<std::string, Out> senders_of(const std::vector<record::Pair>& pairs) {
  std::map<std::string, Out> out;
  std::uint64_t most = 0;
  for (const record::Pair& pair : pairs) {
    Out& each = out[pair.from];
    each.bytes += pair.wire_bytes;
    most = std::max(most, each.bytes);
    if (each.largest == nullptr || pair.wire_bytes > each.largest->wire_bytes) each.largest = &pair;
  }
  std::erase_if(out, [&](const auto& each) {
    return static_cast<double>(each.second.bytes) < kWorthCounting * static_cast<double>(most);
  });
  return out;
}

}  // namespace

std::vector<record::Pair> matrix_of(const std::vector<Told>& told) {
  std::map<std::pair<std::string, std::string>, record::Pair> made;
  for (const Told& file : told) {
    for (const record::Pair& pair : file.pairs) {
      record::Pair& into = made[{pair.from, pair.to}];
      if (pair.wire_bytes >= into.wire_bytes) into = pair;
    }
  }
  std::vector<record::Pair> pairs;
  for (auto& [ends, pair] : made) pairs.push_back(std::move(pair));
  return pairs;
}

std::vector<std::string> ring_in(const std::vector<record::Pair>& pairs) {
  const auto senders = senders_of(pairs);
  if (senders.size() < kFewestHosts) return {};
  std::vector<std::string> order;
  std::set<std::string> seen;
  double along = 0;
  double all = 0;
  for (const record::Pair& pair : pairs) all += static_cast<double>(pair.wire_bytes);
  std::string at = senders.begin()->first;
  while (seen.insert(at).second) {
    const auto found = senders.find(at);
    if (found == senders.end()) return {};
    order.push_back(at);
    along += static_cast<double>(found->second.largest->wire_bytes);
    at = found->second.largest->to;
  }
  const bool is_circle = at == order.front() && order.size() == senders.size();
  return is_circle && along >= kMostOfAll * all ? order : std::vector<std::string>();
}

std::vector<std::string> remarks_on(const std::vector<record::Pair>& pairs) {
  std::vector<std::string> made;
  if (pairs.empty()) return made;
  std::uint64_t all = 0;
  std::set<std::string> hosts;
  const record::Pair* most = &pairs.front();
  for (const record::Pair& pair : pairs) {
    all += pair.wire_bytes;
    hosts.insert({pair.from, pair.to});
    if (pair.wire_bytes > most->wire_bytes) most = &pair;
  }
  made.push_back(fmt::format("{} between {} addresses, most of it ({}) from {} to {}",
                             size_text(all), hosts.size(), size_text(most->wire_bytes),
                             printable(most->from), printable(most->to)));
  const auto ring = ring_in(pairs);
  if (!ring.empty() && ring.size() <= 64) {
    made.push_back(fmt::format("each of {} hosts sends most to its next, as in a ring: {}",
                               ring.size(), printable(fmt::format("{}", fmt::join(ring, " → ")))));
  }
  return made;
}

}  // namespace tw::operations
