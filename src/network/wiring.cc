// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/wiring.h"

#include "trainwire/base/error.h"
#include "trainwire/network/topologies.h"

#include <fmt/format.h>

namespace tw::network {

Wiring::Wiring(int hosts) : hosts_(hosts) { check(hosts >= 1, "a network has a host"); }

std::string Wiring::link_name(int link) const {
  const Ends joined = ends(link);
  return fmt::format("{}-{}", switch_name(joined.lower), switch_name(joined.upper));
}

std::shared_ptr<const Wiring> wiring_of(const spec::Network& network) {
  const int hosts = *network.hosts;
  switch (*network.topology) {
    case spec::Topology::Star:
      return star(hosts);
    case spec::Topology::Dumbbell:
      return dumbbell(hosts, *network.left);
    case spec::Topology::LeafSpine:
      return leaf_spine(hosts, *network.leaves, *network.spines);
    case spec::Topology::FatTree:
      return fat_tree(hosts);
  }
  check(false, "every topology has its wiring");
  return nullptr;
}

}  // namespace tw::network
