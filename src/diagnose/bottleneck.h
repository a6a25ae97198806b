// SPDX-License-Identifier: Apache-2.0
// The slow link in an exchange whose members all take equally long.
//
// Who waits for a slow link passes the same bytes in the same time as that link, and in a ring that
// passes data on as it comes, packet by packet. But everybody else once sends something at his own
// rate, if only the first part of a step, and the slow link never does. So each host's sending and
// receiving side is known by the most that ever passes it (flow/envelope.h): the time that twice an
// amount takes at least, less that of the amount, is free of what a queue, a token bucket or offload
// let pass at once, and never shows more than the link's rate. Receivers are measured by when packets
// came, where they were captured.
//
// The side that is well below all others of its kind is the slow link, and what passes it at most
// its rate, unless its speed does not matter: the exchange must be clearly shorter if it were as
// fast as the next slowest, and so must the step. Sides that look alike (nothing is slow, or
// everything) give none.
//
// Rates count whole frames, as shapers and interfaces do: where the capture holds frames from before
// segmentation, the headers of their segments are added.
//
// Limits: amounts begin at 8 KiB, and at 32 KiB where offload is seen: who never sends so much, nor
// twice that, without a pause looks slow, if not for long.

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
  bool by_arrival = false;  ///< it is what comes in that is slow
  std::string evidence;
};

std::optional<SlowLink> find_slow_link(const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels,
                                       const gather::Captured& traffic);

}  // namespace tw::diagnose
