// SPDX-License-Identifier: Apache-2.0
// Experiments and records made in tests.

#pragma once

#include "trainwire/record/json.h"
#include "trainwire/record/run.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/print.h"
#include "trainwire/workload/vocabulary.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace tw::like {

inline spec::Experiment parsed(std::string_view text) {
  return spec::parse(text, "test", workload::vocabulary());
}

/// Four hosts in a ring, 100 Mbit/s, 1 MB, 50 ms of computing.
inline std::string ring_text() {
  return "[network]\nhosts = 4\nrate = \"100Mbit\"\ndelay = \"100us\"\n"
         "[[job]]\nparameters = \"1MB\"\ncompute_time = \"50ms\"\nsteps = 6\nwarmup = 1\n";
}

inline record::Run record_of(const spec::Experiment& experiment) {
  record::Run run;
  run.experiment = record::value_from(spec::to_json(experiment));
  return run;
}

/// What `sim` records of it, flow by flow.
inline record::Run simulated_record(const spec::Experiment& experiment) {
  return sim::described(experiment, sim::simulate(experiment));
}

/// A row of steps.csv, in milliseconds.
inline std::string row(int rank, int step, std::string_view phase, int start_ms, int end_ms) {
  return std::to_string(rank) + "," + std::to_string(step) + "," + std::string(phase) + "," +
         std::to_string(start_ms) + "000000," + std::to_string(end_ms) + "000000,job0,,0,0\n";
}

/// steps.csv in which each rank computes so many milliseconds of a step of 300.
inline std::string steps_table(const std::vector<int>& computed_ms, int steps) {
  std::string text = "rank,step,phase,start_ns,end_ns,job,bucket,moved_bytes,queued_bytes\n";
  for (std::size_t i = 0; i < computed_ms.size(); ++i) {
    const int rank = static_cast<int>(i);
    for (int step = -1; step < steps; ++step) {
      const int begin = 1000 + 300 * step;
      text += row(rank, step, "wait", begin + computed_ms[i], begin + 300);
      text += row(rank, step, "step", begin, begin + 300);
    }
  }
  return text;
}

}  // namespace tw::like
