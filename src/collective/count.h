// SPDX-License-Identifier: Apache-2.0
// Bytes, transfers and pairs of a schedule, counted from its strands without walking its transfers.
//
// Cost: O(strands), not O(transfers): the elements in a strand are a sum over chunk numbers in
// arithmetic progression, which has a closed form, and so has the part of a strand whose peers are
// neighbouring ranks of one host. Exceptions are strands of ranges (width > 1) and strands whose
// peers advance by more than one rank: these are walked; no strategy here has a long one.

#pragma once

#include "trainwire/collective/layout.h"
#include "trainwire/collective/schedule.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tw::collective {

/// What one execution moves, in elements. "Local" transfers stay inside a host.
struct Count {
  std::int64_t transfers = 0;
  std::int64_t elements = 0;
  std::int64_t local_transfers = 0;
  std::int64_t local_elements = 0;
  std::int64_t rank_sent_elements_max = 0;
  /// Per host, what crosses its link: index is the host.
  std::vector<std::int64_t> host_sent_elements = {};
  std::vector<std::int64_t> host_received_elements = {};
};

/// Elements that all transfers of `strand` move together when the payload has `elements`.
std::int64_t strand_elements(const Schedule& schedule, const Strand& strand, std::int64_t elements);

/// REQUIRES, as all below: the layout has the schedule's ranks.
Count count(const Schedule& schedule, const Layout& layout, std::int64_t elements);

/// Calls `visit(from_host, to_host, elements, transfers)` for each directed pair of different hosts
/// between which the schedule has transfers, ordered by sender, then receiver. Memory: the pairs of
/// one sending host at a time. Cost O(strands), but O(pairs of ranks) where peers advance along a
/// strand: a clique has P(P-1) of them, a parameter server 2nw.
using PairVisitor =
    std::function<void(int from_host, int to_host, std::int64_t elements, std::int64_t transfers)>;
void for_each_host_pair(const Schedule& schedule, const Layout& layout, std::int64_t elements,
                        const PairVisitor& visit);

/// Connections between ranks on different hosts, by what their two directions carry.
struct Flows {
  std::int64_t gradient = 0;         ///< directed pairs of ranks that move payload: "big flows"
  std::int64_t acknowledgement = 0;  ///< reverse directions of these that move none
};

/// Cost O(strands).
Flows flows(const Schedule& schedule, const Layout& layout);

}  // namespace tw::collective
