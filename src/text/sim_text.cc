// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/sim_text.h"

#include "trainwire/base/units.h"
#include "trainwire/text/run_text.h"

#include <fmt/format.h>

#include <cmath>

namespace tw::text {
namespace {

/// Steps of all ranks of all jobs.
double rank_steps(const record::Run& run) {
  double sum = 0;
  for (const record::Job& job : run.jobs) {
    sum += static_cast<double>(job.ranks) * static_cast<double>(job.steps.value_or(0));
  }
  return sum;
}

std::string effort_text(const record::Run& run, const SimEffort& effort) {
  std::string text =
      fmt::format("{} of virtual time in {}", readable(from_seconds(run.duration_s.value_or(0))),
                  readable(from_seconds(effort.took_s)));
  if (effort.messages > 0) {
    text +=
        fmt::format(", {} message{}", grouped(effort.messages), effort.messages == 1 ? "" : "s");
  }
  if (effort.took_s > 0 && rank_steps(run) > 0) {
    text += fmt::format(", {} steps of ranks a second",
                        grouped(std::llround(rank_steps(run) / effort.took_s)));
  }
  return text + "\n\n";
}

}  // namespace

std::string sim_text(const record::Run& run, const std::string& name, const std::string& folder,
                     const SimEffort& effort) {
  return run_text(run, name, folder, effort_text(run, effort));
}

std::string sweep_effort_text(const record::Run& sweep, std::size_t simulated, double took_s) {
  const std::size_t points = sweep.points->size();
  const std::string level = sweep.engine.value_or("");
  if (simulated == 0 && points > 0) {
    return fmt::format("all {} points are there; --force simulates them again", points);
  }
  std::string text = fmt::format("{} point{} {} by {} in {}", simulated, simulated == 1 ? "" : "s",
                                 level, level, readable(from_seconds(took_s)));
  if (simulated < points) text += fmt::format("; {} were there", points - simulated);
  return text;
}

}  // namespace tw::text
