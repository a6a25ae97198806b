// SPDX-License-Identifier: Apache-2.0
// The phases of a training step, and the lines in which a rank tells when it was in them:
// "step,phase,bucket,start_ns,end_ns,bytes,queued_bytes".
//
// Warm-up steps have negative numbers; phase "broadcast" is step's -warmup-1.

#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::record {

enum class Phase {
  Forward,
  Backward,
  Exchange,
  Aggregation,   ///< of a server
  Distribution,  ///< of a server
  Wait,
  Optimiser,
  Broadcast,
  Step,  ///< the whole
};

/// "forward", as tables and logs have it.
std::string_view name_of(Phase phase);
std::optional<Phase> phase_named(std::string_view name);

struct PhaseRow {
  int rank = 0;
  std::int64_t step = 0;
  Phase phase = Phase::Step;
  int bucket = -1;            ///< -1: not of one bucket
  std::int64_t start_ns = 0;  ///< since 1970, on the rank's clock
  std::int64_t end_ns = 0;
  std::int64_t bytes = 0;   ///< of payload, sent and received
  std::int64_t queued = 0;  ///< that the kernel still had to send at its end
  bool operator==(const PhaseRow&) const = default;
};

/// With its line feed, without the rank, whose file it is.
void append_phase_line(std::string& text, const PhaseRow& row);
/// Adds the whole lines of a rank's file to `rows`; those of phases that nobody knows are left out.
void read_phase_lines(std::istream& file, int rank, std::vector<PhaseRow>& rows);

}  // namespace tw::record
