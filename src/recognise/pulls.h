// SPDX-License-Identifier: Apache-2.0
// Pair averaging, or gossip: every host gets the whole model of one peer after another, in no
// order, at its own pace or in step with the others.
//
// Then no channel has a tempo of its own (peers are chosen by chance), but every transfer of every
// channel has the same size, and what one host receives comes at an even pace: more evenly than what
// one host sends it, for it is who fetches that sets the pace. Heartbeats are pushed.

#pragma once

#include "trainwire/rhythm/channel.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace tw::recognise {

struct Pull {
  int from;
  std::int64_t start_ns;
  std::int64_t end_ns;
};

struct Pulls {
  double bytes;                              ///< of each
  std::map<int, std::vector<Pull>> by_host;  ///< who fetches; in time order
  std::vector<std::size_t> channels;         ///< that carry them
  double share;                              ///< of all bytes that are pulls
  double regularity;                         ///< 0..1: how even the pace of the hosts is
  std::vector<int> servers = {};  ///< that answer all; none where every host fetches from others
};

/// 1 for an even pace, towards 0 for arrivals by chance (whose distances vary by 100 %): the median
/// over the hosts.
double regularity(const std::map<int, std::vector<Pull>>& by_host);

std::optional<Pulls> find_pulls(std::span<const rhythm::Channel> channels, std::int64_t gap_ns);

}  // namespace tw::recognise
