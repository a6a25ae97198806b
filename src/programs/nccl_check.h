// SPDX-License-Identifier: Apache-2.0
// Whether ranks that were to speak NCCL over the emulated network did: by what NCCL itself logs.

#pragma once

#include "trainwire/lab/launch.h"
#include "trainwire/record/run.h"

#include <string_view>
#include <vector>

namespace tw::programs {

/// What one rank's log of NCCL says (NCCL_DEBUG=INFO, subsystems INIT and NET).
struct NcclWords {
  bool called = false;       ///< a communicator was begun
  bool complete = false;     ///< one was made
  bool over_socket = false;  ///< its network is "Socket"
};
NcclWords nccl_words(std::string_view log);

/// REQUIRES: every job's `gpu` is set. Ranks whose program logs elsewhere are not judged.
record::Check nccl_check(const std::vector<lab::LaunchRequest>& jobs);

}  // namespace tw::programs
