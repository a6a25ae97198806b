// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/resolve.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::spec {
namespace {

void check_time(const Fault& fault, keys::Section& section) {
  if (!section.readable({"at", "step"})) return;
  if (!*fault.at && !*fault.step) section.refuse("needs at = \"3s\" or step = 12");
  if (*fault.at && *fault.step) section.refuse("step", "at says when it begins; keep one of them");
}

void check_rank(const Fault& fault, const Job& job, keys::Section& section) {
  if (!section.readable({"rank"})) return;
  if (!*fault.rank) {
    section.refuse("kinds kill and stop are of a rank; write rank = 0");
  } else if (**fault.rank >= *job.ranks) {
    section.refuse("rank",
                   fmt::format("{} has ranks 0 to {}", keys::in_quotes(*job.name), *job.ranks - 1));
  }
}

/// What its step and rank are of.
void check_job(Fault& fault, std::span<const Job> jobs, keys::Section& section) {
  if (!section.readable({"job", "kind"})) return;
  const bool needs_job = *fault.step || fault.is_of_rank();
  if (jobs.empty()) {
    if (needs_job) section.refuse("there is no job whose step or rank it could be");
    return;
  }
  derive(fault.job, *jobs.front().name);
  const auto job = std::find_if(jobs.begin(), jobs.end(),
                                [&](const Job& one) { return *one.name == *fault.job; });
  if (job == jobs.end()) {
    return section.refuse(
        "job", fmt::format("there is no job {}; the first is {}", keys::in_quotes(*fault.job),
                           keys::in_quotes(*jobs.front().name)));
  }
  if (section.readable({"step"}) && *fault.step && **fault.step >= *job->steps) {
    section.refuse(
        "step", fmt::format("{} has steps 0 to {}", keys::in_quotes(*job->name), *job->steps - 1));
  }
  if (fault.is_of_rank()) check_rank(fault, *job, section);
}

void check_link(const Fault& fault, const Surroundings& around, keys::Section& section) {
  if (!section.readable({"link"})) return;
  if (fault.link->empty()) {
    section.refuse("does not say which link it is about; write link = \"host0\"");
  } else if (around.hosts_known) {
    std::string problem = link_problem(around.network, *fault.link);
    if (!problem.empty()) section.refuse("link", std::move(problem));
  }
}

/// A key that another kind has.
template <typename T>
void refuse_foreign(std::string_view key, const Setting<T>& setting, bool is_ours,
                    std::string_view whose, keys::Section& section) {
  if (is_ours || !is_explicit(setting)) return;
  section.refuse(key, fmt::format("is of {}; leave it out", whose));
}

void check_keys(const Fault& fault, keys::Section& section) {
  const auto is = [&](FaultKind kind) { return *fault.kind == kind; };
  const bool of_rank = fault.is_of_rank();
  refuse_foreign("rank", fault.rank, of_rank, "kinds kill and stop", section);
  refuse_foreign("link", fault.link, !of_rank, "kinds that are about a link", section);
  refuse_foreign("direction", fault.direction, !of_rank, "kinds that are about a link", section);
  refuse_foreign("for", fault.lasting, !is(FaultKind::Kill), "faults that pass", section);
  refuse_foreign("rate", fault.rate, is(FaultKind::Slow), "kind slow", section);
  refuse_foreign("factor", fault.factor, is(FaultKind::Slow), "kind slow", section);
  refuse_foreign("loss", fault.loss, is(FaultKind::Loss), "kind loss", section);
  refuse_foreign("period", fault.period, is(FaultKind::LinkFlap), "kind link-flap", section);
  refuse_foreign("duty", fault.duty, is(FaultKind::LinkFlap), "kind link-flap", section);
  if (is(FaultKind::Slow) && section.readable({"rate", "factor"}) &&
      fault.rate->has_value() == fault.factor->has_value()) {
    section.refuse("kind slow needs one of rate = \"100Mbit\" and factor = 0.1");
  }
  if (is(FaultKind::Loss) && section.readable({"loss"}) && *fault.loss <= 0) {
    section.refuse("kind loss needs loss = \"1%\" or another share above 0");
  }
}

}  // namespace

void resolve_fault(Fault& fault, std::span<const Job> jobs, const Surroundings& around,
                   keys::Section& section) {
  check_time(fault, section);
  if (!section.readable({"kind"})) return;
  if (!is_explicit(fault.kind)) {
    return section.refuse(
        "needs kind = \"link-down\", \"link-flap\", \"slow\", \"loss\", \"stop\" or \"kill\"");
  }
  check_job(fault, jobs, section);
  if (!fault.is_of_rank()) check_link(fault, around, section);
  check_keys(fault, section);
}

}  // namespace tw::spec
