// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/faults.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::sim {
namespace {

using spec::FaultKind;

constexpr std::size_t kMostNamed = 8;

std::size_t job_numbered(const spec::Experiment& experiment, const std::string& name) {
  const auto found = std::find_if(experiment.jobs.begin(), experiment.jobs.end(),
                                  [&](const spec::Job& job) { return *job.name == name; });
  return static_cast<std::size_t>(found - experiment.jobs.begin());
}

/// Of a link's two directions those that the fault is about.
std::vector<int> ports_of(const network::Network& network, const spec::Fault& fault) {
  std::vector<int> ports;
  for (int link = 0; link < network.links(); ++link) {
    if (network.link_name(link) != *fault.link) continue;
    if (*fault.direction != spec::Direction::ToHost) ports.push_back(2 * link);
    if (*fault.direction != spec::Direction::FromHost) ports.push_back(2 * link + 1);
  }
  return ports;
}

Duration part(Duration whole, double share) {
  return Duration(std::llround(static_cast<double>(whole.count()) * share));
}

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed)));
  if (names.size() > kMostNamed) shown.push_back(fmt::format("{} more", names.size() - kMostNamed));
  if (shown.size() == 1) return shown.front();
  const std::string last = shown.back();
  shown.pop_back();
  return fmt::format("{} and {}", fmt::join(shown, ", "), last);
}

}  // namespace

bool Faults::Planned::stops(const JobRank& rank) const {
  return *played.fault.kind == FaultKind::Stop && goes_on() && job == rank.job &&
         **played.fault.rank == rank.rank;
}

Faults::Faults(const spec::Experiment& experiment, medium::Medium& medium, Done done)
    : experiment_(experiment), medium_(medium), done_(std::move(done)) {
  for (const spec::Fault& fault : experiment.faults) {
    Planned& planned = faults_.emplace_back();
    planned.played.fault = fault;
    planned.job = job_numbered(experiment, *fault.job);
    if (fault.is_of_rank()) {
      planned.played.where = fmt::format("rank {} of {}", **fault.rank, *fault.job);
    } else {
      planned.played.where = *fault.link;
      planned.ports = ports_of(medium.network(), fault);
    }
  }
}

std::optional<Duration> Faults::next() const {
  std::optional<Duration> first;
  const auto take = [&](std::optional<Duration> time) {
    if (time && (!first || *time < *first)) first = time;
  };
  for (const Planned& fault : faults_) {
    if (!fault.played.begin) {
      take(*fault.played.fault.at);
    } else if (!fault.is_over) {
      take(fault.until);
      take(fault.change);
    }
  }
  return first;
}

std::vector<JobRank> Faults::advance(Duration now) {
  std::vector<JobRank> on;
  for (Planned& fault : faults_) {
    const spec::Fault& of = fault.played.fault;
    if (!fault.played.begin && *of.at && **of.at <= now) begin(fault, now);
    if (!fault.goes_on()) continue;
    if (fault.until && *fault.until <= now) {
      end(fault, now);
      if (*of.kind == FaultKind::Stop) on.push_back({.job = fault.job, .rank = **of.rank});
    } else if (fault.change && *fault.change <= now) {
      flap(fault, now);
    }
  }
  std::erase_if(on, [this](const JobRank& rank) { return is_stopped(rank); });
  return on;
}

void Faults::step_begins(const JobRank& rank, std::int64_t step, Duration now) {
  for (Planned& fault : faults_) {
    const spec::Fault& of = fault.played.fault;
    if (fault.played.begin || !*of.step || **of.step != step || fault.job != rank.job) continue;
    if (of.is_of_rank() && **of.rank != rank.rank) continue;
    begin(fault, now);
  }
}

bool Faults::is_stopped(const JobRank& rank) const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [&](const Planned& fault) { return fault.stops(rank); });
}

void Faults::begin(Planned& fault, Duration now) {
  const spec::Fault& of = fault.played.fault;
  fault.played.begin = now;
  if (*of.lasting) fault.until = now + **of.lasting;
  if (*of.kind == FaultKind::Kill) kill(fault, *of.step, now);
  if (*of.kind == FaultKind::LinkFlap) return flap(fault, now);
  alter(fault.ports, now);
}

void Faults::end(Planned& fault, Duration now) {
  fault.is_over = true;
  fault.played.end = now;
  alter(fault.ports, now);
}

/// Down for the first part of each period, up for the rest.
void Faults::flap(Planned& fault, Duration now) {
  const spec::Fault& of = fault.played.fault;
  fault.is_down = !fault.is_down;
  const Duration down = part(*of.period, *of.duty);
  fault.change = now + (fault.is_down ? down : *of.period - down);
  alter(fault.ports, now);
}

/// As the faults that go on leave them.
void Faults::alter(const std::vector<int>& ports, Duration now) {
  for (const int port : ports) {
    network::Request request = medium_.network().request(port);
    const BitRate usual = request.rate;
    for (const Planned& fault : faults_) {
      const spec::Fault& of = fault.played.fault;
      if (!fault.goes_on() ||
          std::find(fault.ports.begin(), fault.ports.end(), port) == fault.ports.end()) {
        continue;
      }
      const bool down = *of.kind == FaultKind::LinkDown || fault.is_down;
      if (down) request.rate = BitRate();
      if (*of.rate) request.rate = std::min(request.rate, **of.rate);
      if (*of.factor) request.rate = std::min(request.rate, usual * **of.factor);
      request.loss = 1 - (1 - request.loss) * (1 - *of.loss);
    }
    medium_.alter(port, request, now);
  }
}

void Faults::kill(const Planned& fault, std::optional<std::int64_t> step, Duration now) const {
  if (done_({.job = fault.job, .rank = **fault.played.fault.rank})) return;
  throw Error(fmt::format("{} was killed at {}{}: the others cannot go on without it",
                          rank_text(fault), readable(now),
                          step ? fmt::format(", as it began step {}", *step) : ""));
}

std::string Faults::rank_text(const Planned& fault) const {
  const spec::Job& job = experiment_.jobs[fault.job];
  const int host = spec::placement(experiment_.network,
                                   job)[static_cast<std::size_t>(**fault.played.fault.rank)];
  return fmt::format("{} on {}", fault.played.where, spec::host_name(host));
}

std::vector<PlayedFault> Faults::played() const {
  std::vector<PlayedFault> all;
  for (const Planned& fault : faults_) all.push_back(fault.played);
  return all;
}

/// Each once.
std::vector<std::string> Faults::pairs_text(const std::vector<Wait>& waits) const {
  std::vector<std::string> pairs;
  for (const Wait& wait : waits) {
    const spec::Job& job = experiment_.jobs[wait.job];
    const std::string when =
        wait.step < -*job.warmup ? "the first model" : fmt::format("step {}", wait.step);
    const std::string text =
        fmt::format("rank {} for rank {} ({} of {})", wait.rank, wait.of, when, *job.name);
    if (std::find(pairs.begin(), pairs.end(), text) == pairs.end()) pairs.push_back(text);
  }
  return pairs;
}

std::string Faults::stopped_text(const Planned& fault) const {
  std::vector<std::string> others;
  for (int rank = 0; rank < *experiment_.jobs[fault.job].ranks; ++rank) {
    if (fault.stops({.job = fault.job, .rank = rank})) continue;
    if (!done_({.job = fault.job, .rank = rank})) others.push_back(fmt::format("{}", rank));
  }
  const std::string text =
      fmt::format("{} was stopped at {} for good", rank_text(fault), readable(*fault.played.begin));
  if (others.empty()) return text;
  return fmt::format("{}: {} {} {} for it", text, others.size() == 1 ? "rank" : "ranks",
                     listed(others), others.size() == 1 ? "waits" : "wait");
}

std::string Faults::waiting_text(const std::vector<Wait>& waits) const {
  const std::vector<std::string> pairs = pairs_text(waits);
  std::vector<std::string> parts;
  for (const Planned& fault : faults_) {
    if (!fault.goes_on()) continue;
    const FaultKind kind = *fault.played.fault.kind;
    if (kind == FaultKind::Stop) parts.push_back(stopped_text(fault));
    if (kind != FaultKind::LinkDown && kind != FaultKind::LinkFlap) continue;
    parts.push_back(fmt::format("{} has been {} since {}", fault.played.where,
                                kind == FaultKind::LinkFlap ? "flapping" : "down",
                                readable(*fault.played.begin)));
    if (!pairs.empty()) parts.back() += fmt::format(": there wait {}", listed(pairs));
  }
  if (parts.empty()) return "ranks wait for each other although nothing is broken";
  return fmt::format("the jobs cannot end: {}; give the fault an end with for = \"2s\"",
                     fmt::join(parts, "; "));
}

}  // namespace tw::sim
