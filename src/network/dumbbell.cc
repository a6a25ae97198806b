// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/network/topologies.h"

namespace tw::network {
namespace {

constexpr int kLeft = 0;
constexpr int kRight = 1;

class Dumbbell : public Wiring {
 public:
  Dumbbell(int hosts, int left_hosts) : Wiring(hosts), left_hosts_(left_hosts) {
    check(left_hosts >= 1 && left_hosts < hosts, "a dumbbell has a host on either side");
  }

  int switches() const override { return 2; }
  std::string switch_name(int number) const override { return number == kLeft ? "left" : "right"; }
  int switch_of(int host) const override { return host < left_hosts_ ? kLeft : kRight; }
  int core_links() const override { return 1; }
  Ends ends(int) const override { return {.lower = kLeft, .upper = kRight}; }
  std::string link_name(int) const override { return "core"; }
  Ways ways(int from_switch, int) const override {
    return {.first = 0,
            .stride = 1,
            .count = 1,
            .direction = from_switch == kLeft ? Direction::FromHost : Direction::ToHost,
            .level = 0};
  }
  bool floods(int) const override { return true; }
  /// The left side; what leaves or enters the right one is the same seen from there.
  std::vector<int> zones_of(int host) const override {
    if (switch_of(host) == kRight) return {};
    return {0};
  }
  Zone zone(int) const override { return {.name = "left", .links = {0}}; }

 private:
  int left_hosts_;
};

}  // namespace

std::shared_ptr<const Wiring> dumbbell(int hosts, int left_hosts) {
  return std::make_shared<Dumbbell>(hosts, left_hosts);
}

}  // namespace tw::network
