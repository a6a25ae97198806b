// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/survival.h"

#include "trainwire/network/broken_links.h"
#include "trainwire/steps/fault_costs.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tw::lab {
namespace {

std::string word_of(spec::OnFailure policy) {
  constexpr std::array<std::string_view, 4> kWords{"abort", "restart", "shrink", "grow"};
  return std::string(kWords[static_cast<std::size_t>(policy)]);
}

double since(std::int64_t from_ns, std::int64_t to_ns) {
  return 1e-9 * static_cast<double>(to_ns - from_ns);
}

/// The last fault of one of those ranks before that time.
std::optional<std::int64_t> cause_ns(const FaultTimes& times, const TrainingJob& job,
                                     const recover::Recovery& recovery) {
  std::optional<std::int64_t> last;
  for (const network::PlayedFault& played : times.faults) {
    const spec::Fault& fault = played.fault;
    if (!played.begin || played.begin->count() > recovery.noticed_ns) continue;
    const bool of_rank = fault.is_of_rank() && *fault.job == job.name &&
                         std::ranges::find(recovery.lost, **fault.rank) != recovery.lost.end();
    const bool of_link = !fault.is_of_rank() && std::ranges::any_of(recovery.lost, [&](int rank) {
      const int host = job.hosts[static_cast<std::size_t>(rank)];
      return job.host_names[static_cast<std::size_t>(host)] == *fault.link;
    });
    if (of_rank || of_link) last = std::max(last.value_or(0), played.begin->count());
  }
  return last;
}

}  // namespace

void add_faults(record::Run& run, const FaultTimes& times,
                const std::vector<std::vector<record::PhaseRow>>& phases) {
  const std::int64_t to_real = times.moment.real_ns - times.moment.monotonic_ns;
  std::vector<steps::FaultSpan> spans;
  for (const network::PlayedFault& played : times.faults) {
    record::Fault& fault = run.faults.emplace_back();
    fault.kind = network::word_of(*played.fault.kind);
    fault.where = played.where;
    steps::FaultSpan& span = spans.emplace_back();
    if (played.begin) {
      fault.begin_s = since(times.started_ns, played.begin->count());
      span.begin_ns = played.begin->count() + to_real;
    }
    if (played.end) {
      fault.end_s = since(times.started_ns, played.end->count());
      span.end_ns = played.end->count() + to_real;
    }
    // Nobody is killed for long.
    if (*played.fault.kind == spec::FaultKind::Kill) {
      fault.end_s = fault.begin_s;
      span.end_ns = span.begin_ns;
    }
  }
  for (std::size_t job = 0; job < phases.size(); ++job) {
    const auto costs =
        steps::fault_costs(run.jobs[job].name, steps::step_spans(phases[job]), spans);
    for (std::size_t i = 0; i < costs.size(); ++i) run.faults[i].costs.push_back(costs[i]);
  }
}

void add_recoveries(record::Run& run, const FaultTimes& times, const TrainingJob& job,
                    const recover::JobTalk& talk, const std::vector<record::PhaseRow>& phases) {
  const std::int64_t to_real = times.moment.real_ns - times.moment.monotonic_ns;
  const std::vector<steps::StepSpan> steps = steps::step_spans(phases);
  for (const recover::Recovery& recovery : talk.recoveries()) {
    record::Recovery& made = run.recoveries.emplace_back();
    made.job = job.name;
    made.policy = word_of(job.policy.on_failure);
    made.what = recovery.what;
    made.noticed_s = since(times.started_ns, recovery.noticed_ns);
    made.notice = recovery.notice;
    if (const auto cause = cause_ns(times, job, recovery)) {
      made.detection_s = since(*cause, recovery.noticed_ns);
    }
    made.step = recovery.step;
    made.lost_steps = static_cast<std::uint64_t>(recovery.lost_steps);
    made.from_checkpoint = recovery.from_checkpoint;
    made.bytes = static_cast<std::uint64_t>(recovery.bytes);
    made.ranks = static_cast<std::uint64_t>(recovery.ranks);
    if (recovery.again_ns == 0) continue;
    made.recovery_s = since(recovery.noticed_ns, recovery.again_ns);
    if (const auto back = steps::usual_again(steps, recovery.noticed_ns + to_real)) {
      made.back_s = since(recovery.noticed_ns + to_real, *back);
    }
  }
}

std::optional<record::Checkpoints> checkpoints_of(const TrainingJob& job,
                                                  const recover::JobTalk& talk) {
  if (job.tasks.front().survival.checkpoint_every == 0) return {};
  const recover::Kept& kept = talk.kept();
  record::Checkpoints made{.written = static_cast<std::uint64_t>(kept.written),
                           .failed = static_cast<std::uint64_t>(kept.failed),
                           .bytes = static_cast<std::uint64_t>(kept.bytes),
                           .longest_s = 1e-9 * static_cast<double>(kept.longest_ns)};
  if (!kept.problem.empty()) made.problem = kept.problem;
  return made;
}

}  // namespace tw::lab
