// SPDX-License-Identifier: Apache-2.0
#include "trainwire/usage/shares.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace tw::usage {
namespace {

using BytesBy = std::map<std::string, std::int64_t>;

std::vector<record::LinkShare> shares_of(const BytesBy& bytes_by) {
  std::int64_t all = 0;
  for (const auto& [by, bytes] : bytes_by) all += bytes;
  std::vector<record::LinkShare> shares;
  for (const auto& [by, bytes] : bytes_by) {
    shares.push_back(
        {.of = by, .bytes = bytes, .share = static_cast<double>(bytes) / static_cast<double>(all)});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return shares;
}

}  // namespace

void share(record::Network& network, const network::NetPlan& plan, std::span<const Sent> all) {
  std::vector<BytesBy> by_port(plan.ports.size());
  std::set<std::string> senders;
  for (const Sent& sent : all) {
    if (sent.bytes <= 0) continue;
    senders.insert(sent.by);
    for (const int port : plan.path(sent.from, sent.to)) {
      by_port[static_cast<std::size_t>(port)][sent.by] += sent.bytes;
    }
  }
  if (senders.size() < 2) return;
  for (std::size_t i = 0; i < by_port.size(); ++i) {
    network.links[i].shares = shares_of(by_port[i]);
  }
}

}  // namespace tw::usage
