// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/server_ways.h"

#include <algorithm>
#include <unordered_map>

namespace tw::regular {
namespace {

/// As close to full as that is full, not too much.
constexpr double kRounding = 1e-9;

/// Numbers of kinds in the order in which they come, and the first host of each.
struct Kinds {
  std::vector<int> of = {};
  std::vector<int> hosts = {};
};

Kinds kinds_of(const Physics& physics, const std::vector<int>& hosts) {
  std::unordered_map<int, int> numbers;
  Kinds kinds;
  for (const int host : hosts) {
    const auto [found, is_new] =
        numbers.try_emplace(physics.alike(host), static_cast<int>(kinds.hosts.size()));
    if (is_new) kinds.hosts.push_back(host);
    kinds.of.push_back(found->second);
  }
  return kinds;
}

}  // namespace

ServerWays::ServerWays(const workload::Training& training, const Physics& physics)
    : workers_(training.workers()), servers_(training.ranks() - training.workers()) {
  for (int port = 0; port < physics.ports; ++port) capacities_.push_back(physics.capacity(port));
  loads_.resize(capacities_.size());
  std::vector<int> worker_hosts, server_hosts;
  const collective::Layout& layout = training.arrangement.layout;
  for (int rank = 0; rank < training.ranks(); ++rank) {
    (training.is_server(rank) ? server_hosts : worker_hosts).push_back(layout.host(rank));
    const int other = layout.host(training.is_server(rank) ? 0 : workers_);
    own_out_.push_back(physics.line(layout.host(rank), other).ports.front());
    own_in_.push_back(physics.line(other, layout.host(rank)).ports.back());
  }
  const Kinds of_workers = kinds_of(physics, worker_hosts);
  const Kinds of_servers = kinds_of(physics, server_hosts);
  kind_of_worker_ = of_workers.of;
  kind_of_server_ = of_servers.of;
  worker_kinds_ = static_cast<int>(of_workers.hosts.size());
  server_kinds_ = static_cast<int>(of_servers.hosts.size());
  for (const int from : of_workers.hosts) {
    for (const int to : server_hosts) pushes_.push_back(add_way(physics.line(from, to)));
  }
  for (const int from : of_servers.hosts) {
    for (const int to : worker_hosts) pulls_.push_back(add_way(physics.line(from, to)));
  }
}

ServerWays::Way ServerWays::add_way(const Line& line) {
  const Way way{.time = line.travelling,
                .first = static_cast<std::uint32_t>(ports_.size()),
                .count = static_cast<std::uint32_t>(line.ports.size() - 2)};
  ports_.insert(ports_.end(), line.ports.begin() + 1, line.ports.end() - 1);
  return way;
}

void ServerWays::add_bytes(const Rates& bytes, std::vector<double>& ports) const {
  for (int kind = 0; kind < worker_kinds_; ++kind) {
    for (int server = 0; server < servers_; ++server) {
      const double each = bytes.pushed(kind, server);
      for (const int port : between(push(kind, server))) ports[at(port)] += each;
      ports[at(own_in_[at(workers_ + server)])] += each;
    }
  }
  for (int kind = 0; kind < server_kinds_; ++kind) {
    for (int worker = 0; worker < workers_; ++worker) {
      const double each = bytes.pulled(kind, worker);
      for (const int port : between(pull(kind, worker))) ports[at(port)] += each;
      ports[at(own_in_[at(worker)])] += each;
    }
  }
}

void ServerWays::add_sent(const std::function<double(int)>& bytes,
                          std::vector<double>& ports) const {
  for (int rank = 0; rank < workers_ + servers_; ++rank) {
    ports[at(own_out_[at(rank)])] += bytes(rank);
  }
}

bool ServerWays::has_room(const Rates& rates) {
  std::fill(loads_.begin(), loads_.end(), 0.0);
  add_bytes(rates, loads_);
  for (std::size_t port = 0; port < loads_.size(); ++port) {
    if (loads_[port] > capacities_[port] * (1 + kRounding)) return false;
  }
  return true;
}

}  // namespace tw::regular
