// SPDX-License-Identifier: Apache-2.0
// Exchanges of given sizes one after the other, timed, instead of a training.

#pragma once

#include "trainwire/trainer/loop.h"

namespace tw::trainer {

/// Each size once with a check of what comes out, then timed without. Throws Error.
LoopResult run_bench(const Task& task, const RankConnections& connections, const LoopHooks& hooks);

}  // namespace tw::trainer
