// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/network/topologies.h"

namespace tw::network {
namespace {

class Star : public Wiring {
 public:
  using Wiring::Wiring;

  int switches() const override { return 1; }
  std::string switch_name(int) const override { return "switch"; }
  int switch_of(int) const override { return 0; }
  int core_links() const override { return 0; }
  Ends ends(int) const override { return none<Ends>(); }
  Ways ways(int, int) const override { return none<Ways>(); }
  bool floods(int) const override { return none<bool>(); }
  std::vector<int> zones_of(int) const override { return {}; }
  Zone zone(int) const override { return none<Zone>(); }

 private:
  template <typename T>
  static T none() {
    check(false, "a star has no core");
    return {};
  }
};

}  // namespace

std::shared_ptr<const Wiring> star(int hosts) { return std::make_shared<Star>(hosts); }

}  // namespace tw::network
