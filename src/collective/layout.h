// SPDX-License-Identifier: Apache-2.0
// Where ranks live: the map from ranks to hosts that every strategy starts from.

#pragma once

#include <cstddef>
#include <vector>

namespace tw::collective {

/// Host of each rank. Hosts are numbered 0..hosts-1; a host may hold no rank of this job.
struct Layout {
  int hosts;
  std::vector<int> host_of;

  int ranks() const { return static_cast<int>(host_of.size()); }
  /// REQUIRES: 0 <= rank < ranks().
  int host(int rank) const { return host_of[static_cast<std::size_t>(rank)]; }
  bool operator==(const Layout&) const = default;
};

/// Ranks in order, as evenly as whole numbers allow: rank r lives on host floor(r * hosts / ranks),
/// so that neighbours share a host and counts differ by at most one. With more hosts than ranks,
/// the first `ranks` hosts hold one each. REQUIRES: ranks >= 0, hosts >= 1.
Layout evenly(int ranks, int hosts);

/// The first rank of each host that holds any, in rank order: who speaks for its host.
/// REQUIRES: every rank's host lies in [0, hosts).
std::vector<int> masters(const Layout& layout);

}  // namespace tw::collective
