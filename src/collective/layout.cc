// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/layout.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cstdint>

namespace tw::collective {

Layout evenly(int ranks, int hosts) {
  check(ranks >= 0 && hosts >= 1, "a layout spreads no fewer than 0 ranks over at least one host");
  Layout layout{.hosts = hosts, .host_of = {}};
  const std::int64_t used = std::min(ranks, hosts);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    layout.host_of.push_back(static_cast<int>(rank * used / ranks));
  }
  return layout;
}

std::vector<int> masters(const Layout& layout) {
  std::vector<char> seen(static_cast<std::size_t>(layout.hosts), 0);
  std::vector<int> result;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    char& host_seen = seen.at(static_cast<std::size_t>(layout.host(rank)));
    if (host_seen == 0) result.push_back(rank);
    host_seen = 1;
  }
  return result;
}

}  // namespace tw::collective
