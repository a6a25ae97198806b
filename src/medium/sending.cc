// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/sending.h"

#include "trainwire/base/error.h"
#include "trainwire/medium/rdma.h"
#include "trainwire/netsim/congestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tw::medium {

Sending sending_of(const spec::Network& network, const spec::Job& job) {
  Sending sending{.manner = manner_of(job),
                  .uneven = *job.asynchronous,
                  .priority = *job.priority,
                  .rdma_repair = *job.rdma_repair,
                  .rdma_control = *job.rdma_control};
  if (*job.congestion_control == *network.congestion_control) return sending;
  const auto known = netsim::congestion_names();
  if (std::find(known.begin(), known.end(), *job.congestion_control) == known.end()) {
    throw SpecError(
        fmt::format("job {}: congestion_control: \"{}\" cannot be simulated; there are {}",
                    *job.name, *job.congestion_control, fmt::join(known, ", ")));
  }
  sending.congestion_control = *job.congestion_control;
  return sending;
}

}  // namespace tw::medium
