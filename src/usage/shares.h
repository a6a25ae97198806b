// SPDX-License-Identifier: Apache-2.0
// Who used a link how much, where several send over one network.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/record/network.h"

#include <cstdint>
#include <span>
#include <string>

namespace tw::usage {

/// Wire bytes of one of those who send, from host to host.
struct Sent {
  std::string by;  ///< a job's name, or kCrossTraffic
  int from = 0;
  int to = 0;
  std::int64_t bytes = 0;
};

inline constexpr const char* kCrossTraffic = "cross traffic";

/// Adds up what each sent along the paths that the network takes. Nothing is set when only one has
/// sent anything. REQUIRES: `network` describes the plan.
void share(record::Network& network, const network::NetPlan& plan, std::span<const Sent> all);

}  // namespace tw::usage
