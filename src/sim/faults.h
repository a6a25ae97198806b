// SPDX-License-Identifier: Apache-2.0
// What breaks in a simulation, and when: links that are down, flap, lose more or become slower, by
// altering ports of the medium; ranks that are stopped or killed.
//
// A fault begins at its time, or as a rank of its job begins a step. Several may be on one port:
// the lowest rate holds, losses add up. A rank that is stopped notices nothing and sends nothing
// until it goes on; what was handed to the network before is still sent. A rank that is killed ends
// the simulation, as it ends a run.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/network/fault_course.h"
#include "trainwire/spec/experiment.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::sim {

struct JobRank {
  std::size_t job = 0;
  int rank = 0;
  auto operator<=>(const JobRank&) const = default;
};

/// A rank has not had what another has sent, or sends.
struct Wait {
  std::size_t job = 0;
  int rank = 0;
  int of = 0;
  std::int64_t step = 0;
};

using network::PlayedFault;

class Faults {
 public:
  /// Whether a rank has done everything.
  using Done = std::function<bool(const JobRank& rank)>;

  /// REQUIRES: the experiment is resolved, and what is passed outlives it.
  Faults(const spec::Experiment& experiment, medium::Medium& medium, Done done);

  bool empty() const { return course_.empty(); }
  /// When something begins or ends next; nothing: not by itself.
  std::optional<Duration> next() const { return course_.next(Duration()); }
  /// Begins and ends what is due; returns the ranks that go on. Throws Error for a rank that is
  /// killed, as does the next one.
  std::vector<JobRank> advance(Duration now);
  void step_begins(const JobRank& rank, std::int64_t step, Duration now);
  bool is_stopped(const JobRank& rank) const;

  std::vector<PlayedFault> played() const { return course_.played(); }
  /// One sentence of what has gone wrong for good and who waits for whom.
  std::string waiting_text(const std::vector<Wait>& waits) const;

 private:
  bool stops(std::size_t fault, const JobRank& rank) const;
  network::FaultCourse::Alter altered_at(Duration now);
  void kill(std::size_t fault, Duration now) const;
  std::string rank_text(std::size_t fault) const;
  std::string stopped_text(std::size_t fault) const;
  std::vector<std::string> pairs_text(const std::vector<Wait>& waits) const;

  const spec::Experiment& experiment_;
  medium::Medium& medium_;
  Done done_;
  network::FaultCourse course_;
};

}  // namespace tw::sim
