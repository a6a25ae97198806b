// SPDX-License-Identifier: Apache-2.0
// Times that packets alone show, to be laid beside those that programs tell.

#pragma once

#include "trainwire/diagnose/analysis.h"
#include "trainwire/gather/captured.h"
#include "trainwire/summarise/capture.h"

#include <cstdint>
#include <vector>

namespace tw::summarise {

/// Half-open, in nanoseconds on the capture's clock.
struct Stretch {
  std::int64_t start_ns;
  std::int64_t end_ns;
};

/// When payload moved, of all flows together that carry much; disjoint, in order.
std::vector<Stretch> busy_times(const gather::Captured& traffic);

/// Steps by packets alone, also where a log defines the iterations of `result`; without the first, whose beginning is not seen.
/// Nothing where packets show none, or several jobs.
std::vector<Stretch> steps_of_packets(const CaptureResult& result,
                                      const diagnose::AnalysisOptions& options);

}  // namespace tw::summarise
