// SPDX-License-Identifier: Apache-2.0
// An experiment from what files of other programs told of a job, without packets: traces of all ranks.
//
//   gradients  bytes of a step of the collective that moves most
//   computing  what of a step is not waiting and not transfer; a rank that comes late has its delay besides
//   network    a star of one host a rank, whose links carry the bus bandwidth that transfers reached: what a ring's
//              links carry
//
// Limits: a network that was never full is as fast as it was used; traces show neither delays nor which link is slow; what
// computing hides of an exchange is not modelled. What they leave open stands in Fitted::cannot.

#pragma once

#include "trainwire/like/like.h"

namespace tw::like {

/// Whether the record has what traces tell, and no packets.
bool is_told(const record::Run& run);

/// Throws DataError where there are no steps, no sizes or no bus bandwidth. REQUIRES: is_told(run).
void fit_told(Fitted& fitted, const record::Run& run);

}  // namespace tw::like
