// SPDX-License-Identifier: Apache-2.0
// The arrival envelope of what passes one side of a host: the most bytes that ever pass it in a
// time. Pauses, losses and waiting for others make a link carry less for a while, never more, so
// the envelope shows a link's rate wherever it was filled once (network calculus: Le Boudec and
// Thiran 2001, 10.1007/3-540-45318-0). Where one link is slow, data comes to all others at its
// pace, and their means are all alike; their envelopes are not.
//
// Limits: times are those of the capture's windows (a millisecond, longer in long captures). A
// token bucket, or a queue in front of the link where the sender was captured, raises the envelope
// of short times.

#pragma once

#include "trainwire/diagnose/bottleneck.h"
#include "trainwire/flow/series.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tw::diagnose {

/// The highest rate over `windows` neighbouring windows of `width_ns`, in bits per second; of
/// several series together.
double envelope_bps(std::span<const flow::Series* const> series, std::int64_t width_ns,
                    std::uint32_t windows);

/// The side that never passes as much as all others once do, although it is busy at its best rate
/// for most of the exchange. That shows a slow link also where everybody else waits for it packet by
/// packet, so that all means are alike.
std::optional<SlowLink> lowest_envelope(const rhythm::Steps& exchanges,
                                        std::span<const rhythm::Channel> channels,
                                        const gather::Captured& traffic);

}  // namespace tw::diagnose
