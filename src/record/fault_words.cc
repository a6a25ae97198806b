// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/fault_words.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::record {
namespace {

constexpr std::size_t kMostJobs = 4;

std::string time_text(double time_s) { return readable(from_seconds(time_s)); }

std::string span_text(const Fault& fault) {
  if (!fault.begin_s) return "never: all was over before";
  return fmt::format("{} to {}", time_text(*fault.begin_s),
                     fault.end_s ? time_text(*fault.end_s) : "the end");
}

std::string cost_text(const FaultCost& cost) {
  if (cost.steps == 0) return fmt::format("; no step of {}", printable(cost.job));
  return fmt::format("; {} step{} of {} took {} longer, the longest {} (usual {})", cost.steps,
                     cost.steps == 1 ? "" : "s", printable(cost.job),
                     time_text(std::max(0.0, cost.cost_s)), time_text(cost.longest_s),
                     time_text(cost.usual_s));
}

}  // namespace

std::string fault_words(const Fault& fault) {
  std::string text =
      fmt::format("{} {}, {}", printable(fault.kind), printable(fault.where), span_text(fault));
  if (!fault.begin_s) return text;
  for (std::size_t i = 0; i < std::min(fault.costs.size(), kMostJobs); ++i) {
    text += cost_text(fault.costs[i]);
  }
  return text;
}

bool cost_a_step(const Fault& fault) {
  return std::any_of(fault.costs.begin(), fault.costs.end(), [](const FaultCost& cost) {
    return cost.steps > 0 && cost.cost_s > cost.usual_s;
  });
}

}  // namespace tw::record
