// SPDX-License-Identifier: Apache-2.0
// The slow link in an exchange whose members all take equally long.
//
// Who waits for a slow link sends the same bytes in the same time as that link, but in fast bursts
// with pauses in between. The slow link itself is busy nearly all the time at an even rate. So each
// host's sending and receiving side is measured while it is busy: one that is busy most of the
// exchange and clearly slower than all the others is the bottleneck. Sides that look alike (nothing
// is slow, or everything) give none. Nor does one that is slower but whose speed does not matter:
// the exchange must be clearly shorter if it were as fast as the next slowest, and so must the
// step.
//
// Its rate is that at which it spaces what passes it (paced_rate.h); where that does not show, what
// it sustains over 20 ms or more when it is loaded best: while busy it may be waiting for
// acknowledgements or recover from losses, so the mean is less than the link can do.
//
// The rate counts whole frames, as shapers and interfaces do: where the capture holds frames from
// before segmentation, the headers of their segments are added.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::diagnose {

struct SlowLink {
  int from;
  int to;  ///< who gets most of it
  double rate_bps;
  double confidence;
  std::string evidence;
};

std::optional<SlowLink> find_slow_link(const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels,
                                       const gather::Captured& traffic);

}  // namespace tw::diagnose
