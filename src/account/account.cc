// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/account.h"

#include "trainwire/account/causes.h"
#include "trainwire/account/chain.h"
#include "trainwire/account/drops.h"
#include "trainwire/account/judge.h"
#include "trainwire/account/stretch.h"
#include "trainwire/account/trials.h"
#include "trainwire/account/words.h"
#include "trainwire/base/error.h"
#include "trainwire/record/phase.h"
#include "trainwire/spec/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace tw::account {
namespace {

/// Computing of a rank is known that well.
constexpr double kTimerError = 0.02;
/// What is less comes of rounding.
constexpr double kRounding_s = 1e-9;
constexpr const char* kOnLoopback = "loopback";

struct Accounted {
  record::Accounting accounting = {};
  record::Verdict verdict = {};
};

/// As ranks measured it; nothing where they did not.
std::optional<double> compute_s(const record::Job& job) {
  double sum = 0;
  bool any = false;
  for (const record::Phase phase :
       {record::Phase::Forward, record::Phase::Backward, record::Phase::Optimiser}) {
    const auto found = job.phases_median_s.find(std::string(name_of(phase)));
    if (found == job.phases_median_s.end()) continue;
    sum += found->second;
    any = true;
  }
  return any ? std::optional(sum) : std::nullopt;
}

record::AccountPart with_error(const std::string& name, double part_s, double error) {
  return {.name = name,
          .seconds = part_s,
          .low_s = part_s - error * std::abs(part_s),
          .high_s = part_s + error * std::abs(part_s)};
}

std::vector<record::AccountPart> parts_of(const Chain& chain, const Stretch& stretch) {
  std::vector<record::AccountPart> parts;
  const double late_s = chain.part("late_rank");
  if (stretch.added_s > 0) {
    parts.push_back(with_error(stretch.added_to, stretch.added_s, stretch.uncertain_error));
  }
  for (const record::AccountPart& part : chain.parts) {
    const std::string& name = part.name;
    if (name == "compute") {
      parts.push_back(with_error(name, stretch.timers_s - late_s, kTimerError));
    } else if (name == "late_rank") {
      parts.push_back(with_error(name, late_s, kTimerError));
    } else {
      parts.push_back(with_error(name, stretch.of(name, part.seconds), stretch.error_of(name)));
    }
  }
  if (std::abs(stretch.unexplained_s) > kRounding_s) {
    parts.push_back(with_error("unexplained", stretch.unexplained_s, stretch.error));
  }
  return parts;
}

/// The direction of a link that dropped most packets, at a full queue or as the experiment asks; more
/// than one in a thousand, or `enough`.
const record::Link* dropping(const record::Run& run, std::uint64_t enough) {
  const record::Link* worst = nullptr;
  const auto dropped = [](const record::Link& link) {
    return link.counted ? link.counted->dropped_packets + link.counted->lost_packets : 0;
  };
  for (const record::Link& link : run.network.links) {
    const bool is_some = dropped(link) > 0 && dropped(link) >= static_cast<std::int64_t>(enough);
    if (!is_some && 1000 * dropped(link) <= (link.counted ? link.counted->packets : 0)) continue;
    if (worst == nullptr || dropped(link) > dropped(*worst)) worst = &link;
  }
  return worst;
}

Measured measured_of(const spec::Experiment& experiment, const record::Run& run,
                     const record::Job& job) {
  Measured made{.step_s = job.step->median_s, .compute_s = compute_s(job)};
  // What a fault does is no cause's: it stays unexplained.
  if (run.faults.empty() && dropping(run, job.steps.value_or(1)) != nullptr) {
    made.dropped_by = experiment.traffic.empty() ? "loss" : "cross_traffic";
  }
  return made;
}

/// Why what was measured does not count.
std::optional<std::string> doubt_of(const record::Run& run) {
  if (!run.faults.empty()) {
    return fmt::format("faults were played ({} at {}), whose cost is told with them",
                       run.faults.front().kind, run.faults.front().where);
  }
  if (run.cpu_bound) {
    const std::string why = run.machine.reasons.empty() ? "" : ": " + run.machine.reasons.front();
    return "this machine was short of processor time, so that steps took longer than the network "
           "made them" +
           why;
  }
  const auto failed = std::find_if(run.checks.begin(), run.checks.end(),
                                   [](const record::Check& check) { return !check.ok; });
  if (failed == run.checks.end()) return {};
  return fmt::format("a check failed ({}), so that the figures are not to be relied on",
                     failed->name);
}

bool is_simulated(const record::Run& run) { return run.command == "sim"; }

std::string method_of(const record::Run& run, const Stretch& stretch) {
  const std::string how = "flow-level simulations with one cause left out after the other";
  if (is_simulated(run)) return how;
  return fmt::format("{}; {} more or less were shared out to meet the measured step", how,
                     time_words(std::abs(stretch.off_s)));
}

Accounted accounted(const spec::Experiment& experiment, const record::Run& run, std::size_t number,
                    Trials& trials) {
  const record::Job& job = run.jobs[number];
  Accounted made;
  const auto chain = chain_of(trials, number);
  if (!chain || chain->step_s <= 0) {
    made.accounting = {.method = "none", .step_s = job.step->median_s};
    made.accounting.not_visible = {trials.problem()};
    made.verdict =
        no_verdict(trials.problem().empty() ? "nothing could be simulated" : trials.problem());
    return made;
  }
  Measured measured = measured_of(experiment, run, job);
  if (measured.dropped_by == "loss") {
    measured.dropped_most_s = lost_to_queues_s(trials, number, job.step->median_s);
  }
  const Stretch stretch = stretch_of(*chain, measured);
  made.accounting = {.method = method_of(run, stretch),
                     .step_s = job.step->median_s,
                     .parts = parts_of(*chain, stretch),
                     .overlap_s = stretch.factor * chain->overlap_s};
  if (const auto doubt = doubt_of(run)) {
    made.verdict = no_verdict(*doubt);
    return made;
  }
  const Judged found = judged(made.accounting, stretch.off_s / job.step->median_s);
  const Question question{.told = experiment,
                          .job = number,
                          .chain = *chain,
                          .stretch = stretch,
                          .dropping = dropping(run, job.steps.value_or(1))};
  made.verdict = verdict_of(made.accounting, found, cause_of(found.cause, question, trials));
  return made;
}

/// Ranks measured, but no link was shaped: only computing can be told, and there is nothing to judge.
record::Accounting on_loopback(const record::Job& job) {
  const double step_s = job.step->median_s;
  const double computing_s = std::min(step_s, compute_s(job).value_or(0));
  return {.method = "what ranks measured",
          .step_s = step_s,
          .parts = {with_error("compute", computing_s, kTimerError),
                    with_error("unexplained", step_s - computing_s, kTimerError)},
          .not_visible = {"on loopback no link is shaped: what is not computing is this machine's "
                          "own work"}};
}

/// Of the job that loses most, by its share of the step.
void add_whole(record::Run& run) {
  const record::Job* worst = nullptr;
  const auto lost = [](const record::Job& job) {
    const double step_s = job.accounting->step_s;
    return step_s > 0 ? 1 - record::part_s(*job.accounting, "compute") / step_s : 0;
  };
  for (const record::Job& job : run.jobs) {
    if (job.accounting && (worst == nullptr || lost(job) > lost(*worst))) worst = &job;
  }
  if (worst == nullptr) return;
  run.verdict = worst->verdict;
  run.accounting = worst->accounting;
}

}  // namespace

void add(const spec::Experiment& experiment, record::Run& run, const Options& options) {
  if (run.jobs.size() != experiment.jobs.size()) return;
  const auto has_steps = [](const record::Job& job) { return job.step && job.step->median_s > 0; };
  if (std::none_of(run.jobs.begin(), run.jobs.end(), has_steps)) return;
  std::optional<Trials> trials;
  if (run.engine != kOnLoopback) trials.emplace(spec::scaled(experiment), options.budget_s);
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    record::Job& job = run.jobs[i];
    if (!has_steps(job)) continue;
    if (!trials) {
      job.accounting = on_loopback(job);
    } else {
      Accounted made = accounted(experiment, run, i, *trials);
      job.accounting = std::move(made.accounting);
      job.verdict = std::move(made.verdict);
    }
    if (run.jobs.size() < 2) continue;
    job.accounting->job = job.name;
    if (job.verdict) job.verdict->job = job.name;
  }
  add_whole(run);
}

}  // namespace tw::account
