// SPDX-License-Identifier: Apache-2.0
// Sharded training (FSDP, ZeRO): every rank keeps a part of the model. A step gathers layer after
// layer on the way forwards, and scatters the sums of their gradients on the way back; before that
// it gathers a layer again, unless it was kept:
//
//   forwards   H 1 2 3              H: what belongs to no layer, as embeddings do
//   back       3 2 3 1 2 1 H        gathered again one ahead of what is scattered
//
// Around a ring each of these is half of an all-reduce, so bytes alone cannot tell a gathering of M
// from an all-reduce of M/2. The places of pauses can, where there are several sizes: buckets are
// not met again, and pieces and rounds are all equal. Each course that a step may take says where
// its collectives end, and where the longest wait is: at the turn, for all that was gathered has to
// be computed there. Courses compete by how much likelier pauses are at these places than anywhere,
// for what it takes to write them down.
//
// Limits: layers of one size only cannot be told from buckets, and are called all-reduces.

#pragma once

#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tw::recognise {

/// In parts of what an edge of the ring carries in a step.
struct Shards {
  double model;  ///< all layers once: what is scattered; the rest is gathered
  std::size_t collectives;
  double lead;   ///< over all-reduces in pieces of any kind, in nats
  double worth;  ///< what the pauses alone tell for it: no claim without
  double probability = 1;
  static constexpr double kClearLead = 1;
  bool is_clear() const { return lead >= kClearLead && worth > 0; }
  /// The likeliest of all else that the step may be.
  struct Other {
    double probability = 0;
    std::optional<double> model = {};  ///< nothing: it is an all-reduce
  };
  Other other = {};
};

/// Nothing where no pauses are at the ends of such collectives.
std::optional<Shards> find_shards(const rhythm::Steps& ring,
                                  std::span<const rhythm::Channel> channels);

}  // namespace tw::recognise
