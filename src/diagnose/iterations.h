// SPDX-License-Identifier: Apache-2.0
// Training steps: from the exchanges on the wire, or from the program's own log.
//
// A step found on the wire is one host's step, as a log is one rank's: it runs from the last
// gradient byte that the host receives in one exchange to the last in the next. Compute, then
// exchange, as a training loop is written. Of the first step only the exchange is seen; it is given
// the others' typical compute time. The exchange itself is that of the host that it
// takes longest, from its first byte to its last: it may begin before the step, or end after it.

#pragma once

#include "trainwire/diagnose/analysis.h"
#include "trainwire/recognise/pulls.h"
#include "trainwire/rhythm/steps.h"

namespace tw::diagnose {

/// `host` is whose steps; bytes are those of all lanes. `flows` says which of the traffic's flows
/// carry gradients.
Iterations iterations_of(const rhythm::Steps& exchanges, int host, const gather::Captured& traffic,
                         const std::vector<std::size_t>& flows);

/// Asynchronous: the steps of the rank with the median number of pulls.
Iterations iterations_of(const recognise::Pulls& pulls, const gather::Captured& traffic,
                         const std::vector<std::size_t>& flows);

/// Step k of all ranks together, from the first start to the last end. Bytes are those of `flows`,
/// or of everything when there are none.
Iterations iterations_of(const imports::StepLog& log, const gather::Captured& traffic,
                         const std::vector<std::size_t>& flows);

}  // namespace tw::diagnose
