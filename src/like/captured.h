// SPDX-License-Identifier: Apache-2.0
// An experiment from packets alone: hosts on a star, one rank each, the job that was recognised.
//
//   job        strategy, bytes and buckets of the collective that moves most in a step
//   computing  for how long a host is silent between two exchanges; a straggler has its delay besides
//   network    of `exec`: as its experiment says; otherwise the highest rate of a side, the slow
//              link that was found, delays from round trips
//
// Limits: ranks of one host cannot be told apart, nor computing from other waiting of a host; a
// network that was never full is as fast as it was used. What the packets leave open stands in
// Fitted::cannot.

#pragma once

#include "trainwire/like/like.h"

#include <string>

namespace tw::like {

/// Throws DataError where there are no packets, no steps or no collective that was recognised.
void fit_captured(Fitted& fitted, const record::Run& run, const std::string& folder);

}  // namespace tw::like
