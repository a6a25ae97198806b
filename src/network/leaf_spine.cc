// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/network/topologies.h"

#include <fmt/format.h>

#include <cstdint>

namespace tw::network {
namespace {

/// Switches: leaves, then spines. Links: those of the first spine by leaf, then the second's, ...
class LeafSpine : public Wiring {
 public:
  LeafSpine(int hosts, int leaves, int spines) : Wiring(hosts), leaves_(leaves), spines_(spines) {
    check(leaves >= 1 && leaves <= hosts && spines >= 1, "every leaf has a host and a spine");
  }

  int switches() const override { return leaves_ + spines_; }
  std::string switch_name(int number) const override {
    return number < leaves_ ? fmt::format("leaf{}", number)
                            : fmt::format("spine{}", number - leaves_);
  }
  int switch_of(int host) const override {
    return static_cast<int>(std::int64_t{host} * leaves_ / hosts());
  }
  int core_links() const override { return leaves_ * spines_; }
  Ends ends(int link) const override {
    return {.lower = link % leaves_, .upper = leaves_ + link / leaves_};
  }
  Ways ways(int from_switch, int host) const override {
    if (from_switch < leaves_) {
      return {.first = from_switch,
              .stride = leaves_,
              .count = spines_,
              .direction = Direction::FromHost,
              .level = 0};
    }
    return {.first = (from_switch - leaves_) * leaves_ + switch_of(host),
            .stride = 1,
            .count = 1,
            .direction = Direction::ToHost,
            .level = 0};
  }
  bool floods(int link) const override { return link < leaves_; }
  std::vector<int> zones_of(int host) const override { return {switch_of(host)}; }
  Zone zone(int number) const override {
    Zone leaf{.name = switch_name(number), .links = {}};
    for (int spine = 0; spine < spines_; ++spine) leaf.links.push_back(spine * leaves_ + number);
    return leaf;
  }

 private:
  int leaves_;
  int spines_;
};

}  // namespace

std::shared_ptr<const Wiring> leaf_spine(int hosts, int leaves, int spines) {
  return std::make_shared<LeafSpine>(hosts, leaves, spines);
}

}  // namespace tw::network
