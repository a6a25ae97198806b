// SPDX-License-Identifier: Apache-2.0
// Sharded training (FSDP, ZeRO): every rank keeps a part of the model. A step gathers each layer
// for the way forwards and again for the way back, and scatters the sums of its gradients: three
// half-collectives of one size for each layer, or two where a layer is kept in between, as the last
// one is. Around a ring each is half of an all-reduce, so bytes alone cannot tell a gathering of
// M from an all-reduce of M/2; two things together can, where there are several sizes: that sizes
// come in threes, and that those which begin the step end it, for gradients come back in the reverse
// order. The rounds of all-reduces, of which there are N-1 or more of each size in a row, and their
// buckets are not met again.
//
// Limits: collectives between which nobody ever pauses are one; layers of one size only cannot be
// told from buckets, and are called all-reduces.

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
  double model;     ///< all layers once
  double gathered;  ///< the others are scattered
  std::size_t collectives;
};

/// `sizes`: what is sent between two pauses, in order, in one step of a ring of `hosts`.
std::optional<Shards> shards_of(const std::vector<double>& sizes, int hosts);

/// Of most lanes of a ring; nothing unless they agree.
std::optional<Shards> find_shards(const rhythm::Steps& ring,
                                  std::span<const rhythm::Channel> channels);

}  // namespace tw::recognise
