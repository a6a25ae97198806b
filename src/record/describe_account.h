// SPDX-License-Identifier: Apache-2.0
// The members of account.h, named once for writing and reading.
//
// Documents also have each part as a member of its own ("bandwidth_s", 0 where there is none), and
// the ends of the gain's interval: for readers that know what they look for.

#pragma once

#include "trainwire/record/account.h"
#include "trainwire/record/json_io.h"

#include <utility>

namespace tw::record {

/// Names of parts, and of the members that repeat them.
inline constexpr std::array<std::pair<const char*, const char*>, 11> kPartMembers = {{
    {"compute_s", "compute"},
    {"bandwidth_s", "bandwidth"},
    {"latency_s", "latency"},
    {"wait_straggler_s", "late_rank"},
    {"wait_link_s", "slow_link"},
    {"repair_s", "loss"},
    {"cross_s", "cross_traffic"},
    {"other_job_s", "other_job"},
    {"window_s", "window"},
    {"idle_restart_s", "idle_restart"},
    {"unexplained_s", "unexplained"},
}};

template <typename Io>
void describe(Io& io, As<AccountPart> auto& part) {
  io("name", part.name);
  io("seconds", part.seconds);
  io("low_s", part.low_s);
  io("high_s", part.high_s);
}

template <typename Io>
void describe(Io& io, As<Accounting> auto& accounting) {
  if (!accounting.job.empty() || Io::kReads) io("job", accounting.job);
  io("method", accounting.method);
  io("step_s", accounting.step_s);
  if constexpr (!Io::kReads) {
    for (const auto& [member, part] : kPartMembers) io(member, part_s(accounting, part));
  }
  io("overlap_s", accounting.overlap_s);
  io("parts", accounting.parts);
  io("not_visible", accounting.not_visible);
}

template <typename Io>
void describe(Io& io, As<Verdict> auto& verdict) {
  if (!verdict.job.empty() || Io::kReads) io("job", verdict.job);
  io("cause", verdict.cause);
  io("where", verdict.where);
  io("cost_s", verdict.cost_s);
  io("share", verdict.share);
  io("gain_s", verdict.gain_s);
  io("gain_ci_low_s", verdict.gain_ci[0]);
  io("gain_ci_high_s", verdict.gain_ci[1]);
  if constexpr (!Io::kReads) {
    io("gain_ci", std::vector<double>(verdict.gain_ci.begin(), verdict.gain_ci.end()));
  }
  io("confidence", verdict.confidence);
  io("text", verdict.text);
}

}  // namespace tw::record
