// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/faults.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::sim {
namespace {

using spec::FaultKind;

constexpr std::size_t kMostNamed = 8;

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

Faults::Faults(const spec::Experiment& experiment, medium::Medium& medium, Done done)
    : experiment_(experiment),
      medium_(medium),
      done_(std::move(done)),
      course_(experiment,
              {.ports_of = [&medium](const auto& of) { return ports_of(medium.network(), of); },
               .rate_of = [&medium](int port) { return medium.network().request(port).rate; }}) {}

std::vector<JobRank> Faults::advance(Duration now) {
  std::vector<JobRank> on;
  for (const auto& [fault, begins] : course_.advance(Duration(), now, altered_at(now))) {
    const spec::Fault& of = course_[fault].fault;
    if (begins && *of.kind == FaultKind::Kill) kill(fault, now);
    if (!begins && *of.kind == FaultKind::Stop) {
      on.push_back({.job = course_.job(fault), .rank = **of.rank});
    }
  }
  std::erase_if(on, [this](const JobRank& rank) { return is_stopped(rank); });
  return on;
}

void Faults::step_begins(const JobRank& rank, std::int64_t step, Duration now) {
  for (std::size_t fault = 0; fault < course_.size(); ++fault) {
    const spec::Fault& of = course_[fault].fault;
    if (course_.has_begun(fault) || !*of.step || **of.step != step) continue;
    if (course_.job(fault) != rank.job || (of.is_of_rank() && **of.rank != rank.rank)) continue;
    course_.begin(fault, now, altered_at(now));
    if (*of.kind == FaultKind::Kill) kill(fault, now);
  }
}

bool Faults::stops(std::size_t fault, const JobRank& rank) const {
  const spec::Fault& of = course_[fault].fault;
  return *of.kind == FaultKind::Stop && course_.goes_on(fault) && course_.job(fault) == rank.job &&
         **of.rank == rank.rank;
}

bool Faults::is_stopped(const JobRank& rank) const {
  for (std::size_t fault = 0; fault < course_.size(); ++fault) {
    if (stops(fault, rank)) return true;
  }
  return false;
}

network::FaultCourse::Alter Faults::altered_at(Duration now) {
  return [this, now](int port, const network::PortChange& change) {
    network::Request request = medium_.network().request(port);
    if (change.rate) request.rate = *change.rate;
    // What a link that is down holds stays there: nothing of it is lost.
    if (change.is_down) {
      request.rate = BitRate();
    } else {
      request.loss = 1 - (1 - request.loss) * (1 - change.loss);
    }
    medium_.alter(port, request, now);
  };
}

void Faults::kill(std::size_t fault, Duration now) const {
  const spec::Fault& of = course_[fault].fault;
  if (done_({.job = course_.job(fault), .rank = **of.rank})) return;
  throw Error(fmt::format("{} was killed at {}{}: the others cannot go on without it",
                          rank_text(fault), readable(now),
                          *of.step ? fmt::format(", as it began step {}", **of.step) : ""));
}

std::string Faults::rank_text(std::size_t fault) const {
  const network::PlayedFault& played = course_[fault];
  const spec::Job& job = experiment_.jobs[course_.job(fault)];
  const int host =
      spec::placement(experiment_.network, job)[static_cast<std::size_t>(**played.fault.rank)];
  return fmt::format("{} on {}", played.where, spec::host_name(host));
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

std::string Faults::stopped_text(std::size_t fault) const {
  std::vector<std::string> others;
  const std::size_t job = course_.job(fault);
  for (int rank = 0; rank < *experiment_.jobs[job].ranks; ++rank) {
    if (stops(fault, {.job = job, .rank = rank})) continue;
    if (!done_({.job = job, .rank = rank})) others.push_back(fmt::format("{}", rank));
  }
  const std::string text = fmt::format("{} was stopped at {} for good", rank_text(fault),
                                       readable(*course_[fault].begin));
  if (others.empty()) return text;
  return fmt::format("{}: {} {} {} for it", text, others.size() == 1 ? "rank" : "ranks",
                     listed(others), others.size() == 1 ? "waits" : "wait");
}

std::string Faults::waiting_text(const std::vector<Wait>& waits) const {
  const std::vector<std::string> pairs = pairs_text(waits);
  std::vector<std::string> parts;
  for (std::size_t fault = 0; fault < course_.size(); ++fault) {
    if (!course_.goes_on(fault)) continue;
    const network::PlayedFault& played = course_[fault];
    const FaultKind kind = *played.fault.kind;
    if (kind == FaultKind::Stop) parts.push_back(stopped_text(fault));
    if (kind != FaultKind::LinkDown && kind != FaultKind::LinkFlap) continue;
    parts.push_back(fmt::format("{} has been {} since {}", played.where,
                                kind == FaultKind::LinkFlap ? "flapping" : "down",
                                readable(*played.begin)));
    if (!pairs.empty()) parts.back() += fmt::format(": there wait {}", listed(pairs));
  }
  if (parts.empty()) return "ranks wait for each other although nothing is broken";
  return fmt::format("the jobs cannot end: {}; give the fault an end with for = \"2s\"",
                     fmt::join(parts, "; "));
}

}  // namespace tw::sim
