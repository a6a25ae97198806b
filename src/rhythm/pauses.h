// SPDX-License-Identifier: Apache-2.0
// What each host may have computed between two steps, from when it is silent.
//
// A host computes from the last gradient byte that it receives in the step before to the first
// message that it sends in this one. A message of any size counts, on either direction of the
// connections that carry gradients: with a rendezvous protocol the data of a straggler's
// predecessor is late too, but its request to send, or its readiness to receive, is not.
//
// Where all exchange something small after the gradients (a loss to average, a barrier), they
// compute only after that. Such an exchange is known by that everybody sends in it, and that all
// are silent after it, for at least half as long as ever before the next gradients. Who has begun,
// and waits for one that has not, is silent for long as well, but that one has sent nothing yet.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace tw::rhythm {

/// When each host sent anything on the connections that carry gradients, either way; bytes that it
/// sends again are nothing.
using Messages = std::map<int, std::vector<Interval>>;
Messages messages_of(const Steps& exchanges, std::span<const Channel> channels,
                     const gather::Captured& traffic);

/// The first message that begins after a time.
std::vector<Interval>::const_iterator first_after(const std::vector<Interval>& sent,
                                                  std::int64_t time);

/// When a host sends its first gradient byte of a step.
std::optional<std::int64_t> first_data(const Steps& exchanges, int host, std::size_t step);

/// What a host may have computed in a step. What it still sends of the step before, when it has
/// received everything, may keep it from beginning, or leave on its own while it computes already.
struct Compute {
  double least_s;  ///< negative when unknown
  double most_s;
};

/// By host in the order of `hosts`, then by step from the second.
using ComputeTable = std::vector<std::vector<Compute>>;
ComputeTable compute_table(const Steps& exchanges, const Messages& sent,
                           std::span<const int> hosts);

/// The same where the beginning of a step is not known: the longest time in which the host itself
/// sends nothing. Who begins and then waits for a straggler breaks its silence by beginning; the
/// straggler does not.
ComputeTable silence_table(const Steps& exchanges, const Messages& sent,
                           std::span<const int> hosts);

}  // namespace tw::rhythm
