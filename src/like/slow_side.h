// SPDX-License-Identifier: Apache-2.0
// Which link of a captured job is slower than the network: the analysis' bottleneck, or else a host
// that sends without rest, well below what others reach.
//
// Limits: of a slow link between two hosts packets do not show whether it is the way out of one or
// the way into the other; then it is taken for the former.

#pragma once

#include "trainwire/like/captured_network.h"
#include "trainwire/record/run.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tw::like {

struct SlowSide {
  std::string host = {};
  bool sends = true;
  bool both_ways = false;  ///< its other way is as slow
  double rate_bps = 0;
  std::string evidence = {};

  /// As experiments have it.
  std::string_view direction() const {
    return both_ways ? "both" : sends ? "from_host" : "to_host";
  }
};

/// Where to look: hosts that take part in the collective, and what others reach.
struct SlowSearch {
  std::function<bool(const std::string& host)> takes_part;
  double line_bps = 0;
  std::string_view strategy;
};

std::optional<SlowSide> find_slow_side(const record::Run& run, const Sides& sides,
                                       const SlowSearch& search);

}  // namespace tw::like
