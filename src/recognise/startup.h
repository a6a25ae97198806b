// SPDX-License-Identifier: Apache-2.0
// The broadcast of the initial model: before (or while) the first step runs, the payload goes from
// one host to all others over a tree.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/recognise/recognise.h"
#include "trainwire/rhythm/steps.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::recognise {

struct StartBroadcast {
  std::vector<int> order;  ///< root first
  std::uint64_t bytes;     ///< that each other host receives
  double confidence;
  std::string evidence;
};

std::optional<StartBroadcast> find_broadcast(const rhythm::Steps& exchanges,
                                             const Recognition& found,
                                             const gather::Captured& traffic,
                                             const std::vector<int>& host_of);

}  // namespace tw::recognise
