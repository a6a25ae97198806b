// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/network/topologies.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>

#include <numeric>

namespace tw::network {
namespace {

/// With h = k/2: E = k*h edge switches, as many aggregation switches, h*h cores, numbered in that
/// order. Links: edge e to place a of its pod is e*h + a; after these E*h, aggregation switch g to
/// the c-th of its cores is E*h + g*h + c. Zones: edge switches, then pods.
class FatTree : public Wiring {
 public:
  explicit FatTree(int hosts)
      : Wiring(hosts), half_(spec::fat_tree_pods(hosts) / 2), edges_(2 * half_ * half_) {}

  int switches() const override { return 2 * edges_ + half_ * half_; }
  std::string switch_name(int number) const override {
    if (is_edge(number)) return fmt::format("edge{}", number);
    if (is_aggregation(number)) return fmt::format("agg{}", number - edges_);
    return fmt::format("core{}", number - 2 * edges_);
  }
  int switch_of(int host) const override { return host / half_; }
  int core_links() const override { return 2 * edges_ * half_; }

  Ends ends(int link) const override {
    const int lower = link / half_;
    const int place = link % half_;
    if (is_edge(lower)) return {.lower = lower, .upper = edges_ + pod_of(lower) * half_ + place};
    const int core = place_in_pod(lower) * half_ + place;
    return {.lower = lower, .upper = 2 * edges_ + core};
  }

  Ways ways(int from_switch, int host) const override {
    const int pod = pod_of(switch_of(host));
    if (is_edge(from_switch)) return up_from(from_switch, 0);
    if (is_aggregation(from_switch)) {
      if (pod_of(from_switch - edges_) != pod) return up_from(from_switch, 1);
      return down(switch_of(host) * half_ + place_in_pod(from_switch));
    }
    const int core = from_switch - 2 * edges_;
    const int aggregation = edges_ + pod * half_ + core / half_;
    return down(aggregation * half_ + core % half_);
  }

  /// The first place of every pod and the first core make a tree; others never hear a broadcast.
  bool floods(int link) const override {
    const int lower = link / half_;
    return link % half_ == 0 && (is_edge(lower) || place_in_pod(lower) == 0);
  }

  std::vector<int> zones_of(int host) const override {
    return {switch_of(host), edges_ + pod_of(switch_of(host))};
  }
  Zone zone(int number) const override {
    if (is_edge(number)) return {.name = switch_name(number), .links = links_up(number, 1)};
    const int pod = number - edges_;
    return {.name = fmt::format("pod{}", pod), .links = links_up(edges_ + pod * half_, half_)};
  }

 private:
  bool is_edge(int number) const { return number < edges_; }
  bool is_aggregation(int number) const { return number >= edges_ && number < 2 * edges_; }
  int pod_of(int edge_or_aggregation) const { return edge_or_aggregation / half_; }
  int place_in_pod(int aggregation) const { return (aggregation - edges_) % half_; }

  Ways up_from(int lower, int level) const {
    return {.first = lower * half_,
            .stride = 1,
            .count = half_,
            .direction = Direction::FromHost,
            .level = level};
  }
  static Ways down(int link) {
    return {.first = link, .stride = 1, .count = 1, .direction = Direction::ToHost, .level = 0};
  }
  /// Of `count` switches from `first` on.
  std::vector<int> links_up(int first, int count) const {
    std::vector<int> links(static_cast<std::size_t>(count * half_));
    std::iota(links.begin(), links.end(), first * half_);
    return links;
  }

  int half_;
  int edges_;
};

}  // namespace

std::shared_ptr<const Wiring> fat_tree(int hosts) { return std::make_shared<FatTree>(hosts); }

}  // namespace tw::network
