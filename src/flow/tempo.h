// SPDX-License-Identifier: Apache-2.0
// The common rhythm of several senders: in synchronous training all of them make a step at the same
// pace, whatever each of them sends.
//
// Every channel offers the distances that fit its byte stream (rhythm.h), each with the time that
// one takes. A tempo is such a time on which channels agree. Of the tempos that explain the traffic
// about equally well, the fastest is taken (two steps are no step), but a multiple of it when the
// pauses there are longer than those in between more often than chance allows (rounds and buckets
// are no steps either).

#pragma once

#include "trainwire/flow/channel.h"
#include "trainwire/flow/rhythm.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tw::flow {

struct Member {
  std::size_t channel;  ///< number in the channels given
  std::uint64_t bytes;  ///< of one beat
  std::vector<Beat> beats;
};

struct Tempo {
  double period_ns;  ///< mean
  double share;      ///< of the bytes of all channels considered that lie in beats
  double dominance;  ///< share of the beats whose pause is longer than every pause inside
  double ratio;      ///< median of pause / longest pause inside
  std::vector<Member> members;
};

/// The tempo of most bytes first, then the tempos of the channels that it leaves out.
std::vector<Tempo> find_tempos(std::span<const Channel> channels, std::int64_t gap_ns);

}  // namespace tw::flow
