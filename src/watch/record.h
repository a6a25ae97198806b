// SPDX-License-Identifier: Apache-2.0
// What was seen of links and machine over time.
//
// Times are CLOCK_REALTIME, like those of captures. Counters are cumulative: the difference of two
// samples is what happened between them.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/watch/counters.h"
#include "trainwire/watch/proc.h"
#include "trainwire/watch/verdict.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tw::watch {

struct LinkSample {
  std::int64_t time_ns;
  std::vector<PortCounts> ports;  ///< as the source numbers them
};

struct LoadSample {
  std::int64_t time_ns;
  MachineTime machine;
  Duration spun = {};                ///< by idle-class spinners
  std::vector<Duration> waits = {};  ///< of processes, in the order in which they were followed
};

struct WatchRecord {
  std::vector<LinkSample> links = {};
  std::vector<LoadSample> loads = {};
  Duration interval = {};  ///< between link samples: longer than asked for once they were too many
};

/// Over the samples within [from_ns, to_ns]; nothing where there are fewer than two.
std::optional<Load> load_between(const WatchRecord& record, std::int64_t from_ns,
                                 std::int64_t to_ns);

/// What each port did from the first sample to the last; its queue is the longest of all samples.
/// Empty where there is no sample.
std::vector<PortCounts> ports_over(const WatchRecord& record);

/// Every second sample, and the first. A queue's length is the larger one of the two that become
/// one.
void halve(std::vector<LinkSample>& samples);

}  // namespace tw::watch
