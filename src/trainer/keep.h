// SPDX-License-Identifier: Apache-2.0
// A rank's checkpoints: when one is due, how it is written, and how a training begins with one.

#pragma once

#include "trainwire/trainer/loop.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tw::trainer {

/// Whether one is due before `step`. Before the first and after the last there is nothing to keep.
bool is_due(const Survival& survival, std::int64_t step, std::int64_t steps);

/// One that cannot be written is told, and training goes on.
Saved save(const Survival& survival, std::int64_t step, std::uint64_t seed,
           const std::function<std::vector<float>()>& model);

/// Throws DataError when the checkpoint is of another model.
void restore(const Survival& survival, std::span<float> payload);

}  // namespace tw::trainer
