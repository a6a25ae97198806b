// SPDX-License-Identifier: Apache-2.0
// The host that computes longer than the others, so that all wait for it although no link is slow.
//
// What a host computes in a step is taken from its pauses (pauses.h). One is a straggler where the
// least that it may have computed is more than the most that any other may have.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::diagnose {

/// A host whose first message does not wait for others: all of a ring, the leaves of a tree, the
/// workers of a server. Beside a slow link some begin later for another reason than computing, by
/// up to `explained_s`, which is not counted. Where there are others, nobody is compared with them.
struct Starter {
  int host;
  double explained_s = 0;
};

struct LateHost {
  int host;
  double delay_s;
  double confidence;
  std::string evidence;
};

std::optional<LateHost> find_straggler(const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels,
                                       const gather::Captured& traffic,
                                       std::span<const Starter> starters);

/// Starters of a ring in the order in which data flows, beside a slow link out of `slow_from` on
/// which a round takes `round_s`.
///
/// The slow sender itself is left out: its first message may wait behind the last step's in its own
/// queue. Of the N-1 others, the first half after the link have received everything when the last
/// byte of a step passed it, and begin when they have computed. The later half are ahead by rounds:
/// they begin, and then wait for those that are not, up to two rounds.
std::vector<Starter> ring_starters(std::span<const int> order, int slow_from, double round_s);

}  // namespace tw::diagnose
