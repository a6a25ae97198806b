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
  if (fault.begin_s == fault.end_s) return fmt::format("at {}", time_text(*fault.begin_s));
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

std::string recovery_words(const Recovery& recovery) {
  std::string text = printable(recovery.what) + ":";
  if (recovery.detection_s) {
    text += fmt::format(" noticed after {} ({}),", time_text(*recovery.detection_s),
                        printable(recovery.notice));
  } else {
    text += fmt::format(" noticed at {} ({}),", time_text(recovery.noticed_s),
                        printable(recovery.notice));
  }
  if (recovery.recovery_s <= 0) return text + " and the job did not go on";
  text +=
      fmt::format(" {} from step {}{} with {} rank{} after {}", printable(recovery.policy),
                  recovery.step, recovery.from_checkpoint ? " (checkpoint)" : "", recovery.ranks,
                  recovery.ranks == 1 ? "" : "s", time_text(recovery.recovery_s));
  if (recovery.bytes > 0) {
    text +=
        fmt::format(" and {} of state", readable(Bytes(static_cast<std::int64_t>(recovery.bytes))));
  }
  text += fmt::format(", {} step{} lost", recovery.lost_steps, recovery.lost_steps == 1 ? "" : "s");
  if (recovery.back_s) {
    text += fmt::format("; as usual again after {}", time_text(*recovery.back_s));
  }
  return text;
}

std::string checkpoint_words(const Checkpoints& checkpoints) {
  std::string text =
      fmt::format("{} checkpoint{}", checkpoints.written, checkpoints.written == 1 ? "" : "s");
  if (checkpoints.written > 0) {
    text += fmt::format(" of {}, the longest took {}",
                        readable(Bytes(static_cast<std::int64_t>(checkpoints.bytes))),
                        time_text(checkpoints.longest_s));
  }
  if (checkpoints.failed > 0) text += fmt::format("; {} not written", checkpoints.failed);
  if (checkpoints.problem) text += fmt::format("; {}", printable(*checkpoints.problem));
  return text;
}

bool cost_a_step(const Fault& fault) {
  return std::any_of(fault.costs.begin(), fault.costs.end(), [](const FaultCost& cost) {
    return cost.steps > 0 && cost.cost_s > cost.usual_s;
  });
}

}  // namespace tw::record
