// SPDX-License-Identifier: Apache-2.0
// The same experiment with something changed: what elasticities and searches are made of. Queues that
// follow from rates and delays do so; account/without.h leaves causes out and queues as they were.
//
// Limits: of resolved experiments. What other settings are derived from (hosts, ranks, strategies) is
// changed by reading the experiment anew: Variants.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/spec/experiment.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::forecast {

/// The experiment read anew with settings replaced ("job.ranks=64"), as --set does. Throws SpecError
/// with what is wrong. May be called from several threads.
using Variants = std::function<spec::Experiment(const std::vector<std::string>& settings)>;

/// Whether any link loses packets.
bool is_lossy(const spec::Network& network);

/// Whether queues hold less than a port of the kernel's own does (100 kB).
bool is_shallow(const spec::Network& network);

/// The shallowest queue from which any link marks packets, or drops them early; nothing: none does.
std::optional<Bytes> marked_from(const spec::Network& network);

/// Of all links, those with settings of their own included.
spec::Experiment with_rates(spec::Experiment experiment, double factor);
spec::Experiment with_delays(spec::Experiment experiment, double factor);
spec::Experiment with_loss(spec::Experiment experiment, double factor);

/// The settings that give a job so many ranks, as many on a host as there are now. Throws SpecError where
/// the file names its hosts.
std::vector<std::string> settings_for_ranks(const spec::Experiment& experiment, int ranks);

}  // namespace tw::forecast
