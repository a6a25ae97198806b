// SPDX-License-Identifier: Apache-2.0
// The tempo that the program's own log tells: how much each channel sends from one logged step to
// the next.
//
// Nobody sends anything of step k+1 before some rank has begun it, and all of step k has arrived
// when the last rank has ended it. So the bytes of a channel between two such moments are those of
// a step, but for ranks that run ahead; the pauses in the byte stream then show where exactly the
// steps begin (tempo.h).
//
// Limits: log and capture must be on one clock, to a fraction of a step. A log of which fewer than
// three steps lie in the capture tells nothing.

#pragma once

#include "trainwire/imports/step_log.h"
#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/tempo.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tw::rhythm {

/// Nothing when the log does not fit the channels.
std::optional<Tempo> logged_tempo(const imports::StepLog& log, std::span<const Channel> channels,
                                  std::int64_t gap_ns);

}  // namespace tw::rhythm
