// SPDX-License-Identifier: Apache-2.0
// The exchanges of a training job, step by step: what each sender sent in each of them, and when.
//
// A tempo gives every channel's beats; here they are numbered alike. Beat k of every lane belongs
// to step k, although lanes begin and end a step at different times (behind a slow link a host may
// begin step k+1 while another still receives step k).

#pragma once

#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/tempo.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tw::rhythm {

/// A channel in step with the others.
struct Lane {
  int from;  ///< hosts
  int to;
  std::size_t channel;
  std::uint64_t bytes;                     ///< of the median beat
  std::vector<std::optional<Beat>> beats;  ///< by step
};

struct ExchangeStep {
  std::int64_t start_ns;  ///< first byte of any lane
  std::int64_t end_ns;    ///< last byte of any lane
  std::uint64_t bytes;
};

struct Steps {
  std::vector<Lane> lanes;
  std::vector<ExchangeStep> steps;  ///< in time order
  Tempo tempo;                      ///< where they come from; its members' beats are not kept
};

/// Lanes of less than a hundredth of the largest are left out.
Steps align(Tempo tempo, std::span<const Channel> channels);

/// The same with only the lanes for which `keep` is true.
Steps only(const Steps& exchanges, const std::vector<bool>& keep);

/// Bytes that go from host to host in a typical step.
struct PairBytes {
  int from;
  int to;
  double bytes;
};
/// Lanes of a pair taken together, ordered by `from`, then `to`.
std::vector<PairBytes> pair_bytes(const Steps& exchanges);

/// From the first to the last byte of a step: median.
double typical_exchange_ns(const Steps& exchanges);

/// Hosts that lanes touch, rising.
std::vector<int> hosts_of(const Steps& exchanges);

/// First and last byte between two hosts in a step; nothing when they sent none.
struct Interval {
  std::int64_t start_ns;
  std::int64_t end_ns;
};
std::optional<Interval> pair_interval(const Steps& exchanges, int from, int to, std::size_t step);

}  // namespace tw::rhythm
