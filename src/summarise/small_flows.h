// SPDX-License-Identifier: Apache-2.0
// Small flows that ended, as they are told while captures are read: the earliest are kept, in the
// order of time, whatever the order in which they were told.

#pragma once

#include "trainwire/flow/flow.h"
#include "trainwire/packet/address.h"
#include "trainwire/summarise/capture.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace tw::summarise {

class SmallFlows {
 public:
  explicit SmallFlows(std::size_t most = kMostSmallFlows) : most_(most) {}
  void add(const flow::Flow& flow, const std::vector<packet::Address>& addresses);
  std::vector<SmallFlow> earliest() &&;

 private:
  void cut();

  std::size_t most_;
  std::vector<SmallFlow> kept_ = {};
  std::int64_t latest_ns_ = std::numeric_limits<std::int64_t>::max();  ///< that still counts
};

}  // namespace tw::summarise
