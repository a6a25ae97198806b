// SPDX-License-Identifier: Apache-2.0
// What packets that full queues dropped can have cost a step.
//
// Flows drop nothing. What a step takes beyond them may be drops, or how TCP's streams follow one another where partners change
// from round to round: a few drops may cost timeouts, or nothing at all. So the experiment is simulated packet by packet, as it is and with
// deep queues.
//
// Limits: queues alone. Where packets are lost by chance too, or traffic comes as it likes, two simulations differ by more than that.

#pragma once

#include "trainwire/account/trials.h"

#include <cstddef>
#include <optional>

namespace tw::account {

/// Of a job's median step. Nothing where packets are lost for other reasons, where packets take too long, or where they
/// do not take the step that was measured.
std::optional<double> lost_to_queues_s(Trials& trials, std::size_t job, double measured_step_s);

}  // namespace tw::account
