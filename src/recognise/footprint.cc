// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/footprint.h"

#include "trainwire/collective/count.h"
#include "trainwire/collective/strategies.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace tw::recognise {
namespace {

constexpr std::int64_t kElements = 1 << 20;  ///< payload that parts are counted with
constexpr double kSlack = 0.04;              ///< of the largest connection: framing, side messages
constexpr std::size_t kMostHosts = 16;
constexpr int kMostTries = 100'000;

/// What the connections from host to host carry, most first; hosts are places 0..n-1.
class Sheaf {
 public:
  explicit Sheaf(std::size_t hosts) : hosts_(hosts), parts_(hosts * hosts) {}

  void add(std::size_t from, std::size_t to, double part) {
    std::vector<double>& parts = parts_[from * hosts_ + to];
    parts.insert(std::upper_bound(parts.begin(), parts.end(), part, std::greater<>()), part);
    total_ += part;
    largest_ = std::max(largest_, part);
    most_ = std::max(most_, parts.size());
  }
  const std::vector<double>& at(std::size_t from, std::size_t to) const {
    return parts_[from * hosts_ + to];
  }
  std::size_t hosts() const { return hosts_; }
  double total() const { return total_; }
  double largest() const { return largest_; }
  std::size_t most() const { return most_; }  ///< connections of a pair

 private:
  std::size_t hosts_;
  std::vector<std::vector<double>> parts_;
  double total_ = 0;
  double largest_ = 0;
  std::size_t most_ = 0;
};

Sheaf sheaf_of(std::string_view strategy, const collective::Arrangement& arrangement) {
  const collective::Schedule schedule = collective::make_schedule(strategy, arrangement);
  const int ranks = arrangement.layout.ranks();
  Sheaf result(static_cast<std::size_t>(arrangement.layout.hosts));
  collective::for_each_host_pair(
      schedule, collective::evenly(ranks, ranks), kElements,
      [&](int from, int to, std::int64_t elements, std::int64_t) {
        const auto a = static_cast<std::size_t>(arrangement.layout.host(from));
        const auto b = static_cast<std::size_t>(arrangement.layout.host(to));
        if (a != b) result.add(a, b, static_cast<double>(elements) / kElements);
      });
  return result;
}

/// Finds who of those seen is which host of a layout.
class Assignment {
 public:
  Assignment(const Sheaf& seen, const Sheaf& expected)
      : seen_(seen),
        expected_(expected),
        payload_(seen.total() / expected.total()),
        used_(seen.hosts(), false) {}

  bool find() { return extend(0); }
  double payload() const { return payload_; }
  const std::vector<std::size_t>& place_of() const { return place_of_; }
  double residual() const {
    double off = 0;
    for (std::size_t a = 0; a < place_of_.size(); ++a) {
      for (std::size_t b = 0; b < place_of_.size(); ++b) off += *difference(a, b);
    }
    return off / seen_.total();
  }

 private:
  /// Sum over the connections; nothing when one differs by more than the slack, or is missing.
  std::optional<double> difference(std::size_t from, std::size_t to) const {
    const std::vector<double>& found = seen_.at(place_of_[from], place_of_[to]);
    const std::vector<double>& parts = expected_.at(from, to);
    if (found.size() != parts.size()) return std::nullopt;
    double sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double off = std::abs(found[i] - payload_ * parts[i]);
      if (off > kSlack * seen_.largest()) return std::nullopt;
      sum += off;
    }
    return sum;
  }
  bool fits(std::size_t host) const {
    for (std::size_t other = 0; other < host; ++other) {
      if (!difference(host, other) || !difference(other, host)) return false;
    }
    return true;
  }
  bool extend(std::size_t host) {
    if (host == expected_.hosts()) return true;
    for (std::size_t place = 0; place < seen_.hosts(); ++place) {
      if (used_[place] || ++tries_ > kMostTries) continue;
      used_[place] = true;
      place_of_.push_back(place);
      if (fits(host) && extend(host + 1)) return true;
      place_of_.pop_back();
      used_[place] = false;
    }
    return false;
  }

  const Sheaf& seen_;
  const Sheaf& expected_;
  double payload_;
  std::vector<bool> used_;
  std::vector<std::size_t> place_of_;
  int tries_ = 0;
};

/// The layouts that are tried, likelier ones first.
std::vector<std::pair<std::string, collective::Arrangement>> candidates(int hosts) {
  std::vector<std::pair<std::string, collective::Arrangement>> result;
  for (const int each : {2, 4, 8, 3}) {
    const collective::Layout layout = collective::evenly(hosts * each, hosts);
    for (const collective::Maker made :
         {collective::halving_doubling, collective::double_tree, collective::clique,
          collective::star, collective::recursive_doubling, collective::folded_halving_doubling}) {
      result.emplace_back(collective::strategy(made).name,
                          collective::Arrangement{.layout = layout});
    }
    for (int of_servers = 1; 2 * of_servers <= hosts; ++of_servers) {
      result.emplace_back(collective::strategy(collective::ps).name,
                          collective::Arrangement{.layout = layout, .servers = of_servers * each});
    }
  }
  std::erase_if(
      result, [](const auto& one) { return !collective::problem(one.first, one.second).empty(); });
  return result;
}

}  // namespace

std::vector<Packed> match_packed(std::span<const Carried> connections) {
  std::map<int, std::size_t> place;
  for (const Carried& one : connections) {
    place.try_emplace(one.from, 0);
    place.try_emplace(one.to, 0);
  }
  std::vector<int> hosts;
  for (auto& [host, number] : place) {
    number = hosts.size();
    hosts.push_back(host);
  }
  // Between two hosts a ring of several channels has the same connections, and is likelier.
  if (hosts.size() < 3 || hosts.size() > kMostHosts) return {};
  std::vector<Packed> matches;
  Sheaf seen(hosts.size());
  for (const Carried& one : connections) seen.add(place[one.from], place[one.to], one.bytes);
  for (const auto& [strategy, arrangement] : candidates(static_cast<int>(hosts.size()))) {
    const Sheaf expected = sheaf_of(strategy, arrangement);
    if (expected.most() != seen.most() || expected.total() <= 0) continue;
    Assignment assignment(seen, expected);
    if (!assignment.find()) continue;
    Packed result{.strategy = strategy,
                  .ranks_on_each = arrangement.layout.ranks() / arrangement.layout.hosts,
                  .order = {},
                  .servers = {},
                  .connections = seen.most(),
                  .payload = assignment.payload(),
                  .residual = assignment.residual()};
    for (const std::size_t at : assignment.place_of()) result.order.push_back(hosts[at]);
    if (strategy == collective::strategy(collective::ps).name) {
      const auto servers = static_cast<std::ptrdiff_t>(arrangement.servers / result.ranks_on_each);
      result.servers.assign(result.order.end() - servers, result.order.end());
    }
    matches.push_back(std::move(result));
  }
  return matches;
}

}  // namespace tw::recognise
