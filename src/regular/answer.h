// SPDX-License-Identifier: Apache-2.0
// Experiments whose jobs are regular enough to be answered without simulating their messages:
// every job goes around a ring (rings.h) and no two connections of any of them can be in each
// other's way (lines.h): then the answer is what a simulation message by message would give, to the
// nanosecond. Or one job's workers have equal shares of their servers' links (servers.h).

#pragma once

#include "trainwire/regular/lines.h"
#include "trainwire/regular/rings.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tw::regular {

struct JobAnswer {
  RingTimes times = {};
  std::vector<std::int64_t> sent_bytes = {};  ///< by rank, in all steps
  std::int64_t messages = 0;                  ///< that were not simulated
};

struct Answer {
  std::vector<JobAnswer> jobs = {};
  std::vector<double> port_bytes = {};  ///< payload
  Duration end = {};
  const char* because = "";  ///< of what an answer is possible
};

/// Or why there is none.
struct Outcome {
  bool answered = false;
  Answer answer = {};
  std::string reason = {};
};

Outcome answer(const std::vector<const workload::Training*>& jobs, const Physics& physics);

}  // namespace tw::regular
