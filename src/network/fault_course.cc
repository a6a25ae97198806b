// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/fault_course.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::network {
namespace {

/// The first, where programs are no jobs of the experiment.
std::size_t job_numbered(const spec::Experiment& experiment, const std::string& name) {
  const auto found = std::find_if(experiment.jobs.begin(), experiment.jobs.end(),
                                  [&](const spec::Job& job) { return *job.name == name; });
  return found == experiment.jobs.end() ? 0
                                        : static_cast<std::size_t>(found - experiment.jobs.begin());
}

}  // namespace

std::optional<Duration> FaultCourse::Planned::until() const {
  if (!played.begin || !*played.fault.lasting) return {};
  return *played.begin + **played.fault.lasting;
}

FaultCourse::FaultCourse(const spec::Experiment& experiment, Links links)
    : links_(std::move(links)) {
  for (const spec::Fault& fault : experiment.faults) {
    Planned& planned = faults_.emplace_back();
    planned.played.fault = fault;
    planned.job = job_numbered(experiment, *fault.job);
    if (fault.is_of_rank()) {
      planned.played.where = fmt::format("rank {} of {}", **fault.rank, *fault.job);
    } else {
      planned.played.where = *fault.link;
      planned.ports = links_.ports_of(fault);
    }
  }
}

std::vector<PlayedFault> FaultCourse::played() const {
  std::vector<PlayedFault> all;
  for (const Planned& fault : faults_) all.push_back(fault.played);
  return all;
}

std::optional<Duration> FaultCourse::next(Duration start) const {
  std::optional<Duration> first;
  const auto take = [&](std::optional<Duration> time) {
    if (time && (!first || *time < *first)) first = time;
  };
  for (const Planned& fault : faults_) {
    const std::optional<Duration>& at = *fault.played.fault.at;
    if (!fault.played.begin && at) take(start + *at);
    if (!fault.goes_on()) continue;
    take(fault.until());
    take(fault.change);
  }
  return first;
}

void FaultCourse::begin(std::size_t number, Duration now, const Alter& alter) {
  Planned& fault = faults_[number];
  check(!fault.played.begin, "a fault begins once");
  fault.played.begin = now;
  if (*fault.played.fault.kind == spec::FaultKind::LinkFlap) return flap(fault, now, alter);
  alter_ports(fault.ports, alter);
}

std::vector<FaultCourse::Turn> FaultCourse::advance(
    Duration start, Duration now, const Alter& alter,
    const std::function<bool(std::size_t fault)>& may_begin) {
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    Planned& fault = faults_[i];
    const std::optional<Duration>& at = *fault.played.fault.at;
    const bool is_due = !fault.played.begin && at && start + *at <= now;
    if (is_due && (!may_begin || may_begin(i))) {
      begin(i, now, alter);
      turns.push_back({.fault = i, .begins = true});
    }
    if (!fault.goes_on()) continue;
    if (const auto until = fault.until(); until && *until <= now) {
      fault.played.end = now;
      alter_ports(fault.ports, alter);
      turns.push_back({.fault = i, .begins = false});
    } else if (fault.change && *fault.change <= now) {
      flap(fault, now, alter);
    }
  }
  return turns;
}

/// Down for the first part of each period, up for the rest.
void FaultCourse::flap(Planned& fault, Duration now, const Alter& alter) {
  fault.is_down = !fault.is_down;
  fault.change = now + until_flap(fault.played.fault, fault.is_down);
  alter_ports(fault.ports, alter);
}

/// As the faults that go on leave them.
void FaultCourse::alter_ports(const std::vector<int>& ports, const Alter& alter) const {
  std::vector<LinkFault> going_on;
  for (const Planned& fault : faults_) {
    if (!fault.goes_on()) continue;
    going_on.push_back(
        {.fault = &fault.played.fault, .ports = fault.ports, .is_down = fault.is_down});
  }
  for (const int port : ports) alter(port, change_of(port, links_.rate_of(port), going_on));
}

}  // namespace tw::network
