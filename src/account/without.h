// SPDX-License-Identifier: Apache-2.0
// An experiment with one cause of lost time left out; the rest of it is as it was.
//
// All take the experiment as it is run (spec/scale.h) and the number of the job in question. Where
// nothing of the kind is in the experiment, what comes back equals what was given.

#pragma once

#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <string>

namespace tw::account {

/// No random loss, and queues that hold a burst: at least kDeepQueue.
spec::Experiment without_loss(spec::Experiment experiment);
inline constexpr Bytes kDeepQueue = 4_MiB;

spec::Experiment without_traffic(spec::Experiment experiment);

/// Only that job is left, as number 0.
spec::Experiment alone(spec::Experiment experiment, std::size_t job);

/// Nobody computes longer than the others.
spec::Experiment without_late_ranks(spec::Experiment experiment, std::size_t job);

/// Links slower than their peers have the peers' rate, and the core carries what hosts can send
/// (places.h).
spec::Experiment without_slow_links(spec::Experiment experiment, std::size_t job);

/// Sockets have the buffers that the kernel gives them.
spec::Experiment without_window(spec::Experiment experiment);

/// Links take no time but for their rate; queues hold what they held.
spec::Experiment without_delay(spec::Experiment experiment);

/// Links carry anything at once.
spec::Experiment without_rates(spec::Experiment experiment);

/// All links, and the loads that are shares of them, by `factor`.
spec::Experiment with_rates(spec::Experiment experiment, double factor);

/// All delays by `factor`; queues hold what they held.
spec::Experiment with_delays(spec::Experiment experiment, double factor);

/// That link has the delay of its peers; queues hold what they held.
spec::Experiment without_own_delay(spec::Experiment experiment, const std::string& link);

/// What hid in computing is seen: buckets go when all are ready.
spec::Experiment without_overlap(spec::Experiment experiment, std::size_t job);

}  // namespace tw::account
