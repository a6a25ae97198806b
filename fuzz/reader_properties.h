// SPDX-License-Identifier: Apache-2.0
// What must hold of whatever a file of another program tells.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/operations/imported.h"
#include "trainwire/readers/read.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace fuzz {

inline void check_told(const tw::operations::Told& told) {
  for (const tw::operations::Operation& each : told.operations) {
    tw::check(!each.op.empty(), "an operation has a name");
    tw::check(!each.bytes || *each.bytes >= 0, "sizes are not negative");
    tw::check(!each.rank || *each.rank >= 0, "ranks are not negative");
  }
  for (const tw::operations::Step& each : told.steps)
    tw::check(each.duration_ns >= 0, "no step takes less than nothing");
  for (const tw::record::Pair& each : told.pairs)
    tw::check(!each.from.empty() && !each.to.empty(), "pairs have two ends");
  const bool tells = told.records > 0 || !told.steps.empty() || !told.wiring.empty();
  tw::check(tells || !told.reasons.empty() || told.kind == "capture", "who tells nothing says why");
}

/// Beside a second rank that tells the same, whatever it is gives a record with a verdict.
inline void check_record(tw::operations::Told told) {
  tw::operations::Told second = told;
  for (tw::operations::Operation& each : second.operations) each.rank = 1;
  tw::record::Run run;
  tw::operations::add_to(run, tw::operations::imported({std::move(told), std::move(second)}));
  tw::check(run.verdict && !run.verdict->text.empty(), "there is always a sentence");
}

inline void read_as(tw::readers::Kind kind, const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tw::operations::Told told = tw::readers::read_text_as(kind, text, "rank0.json");
  check_told(told);
  check_record(std::move(told));
}

}  // namespace fuzz
