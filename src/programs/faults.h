// SPDX-License-Identifier: Apache-2.0
// The [[fault]] of an experiment, played on somebody's programs and emulated links: at a time after
// the run's start or at a step.
//
// Steps are those that ranks mark (marks.h): a rank begins step 12 when it has marked twelve. A rank
// that was killed so is excused: what the others make of its loss is their program's matter.
//
// Limits: a fault begins within a hundredth of a second, one at a step within a tenth. With mpirun
// ranks are its own, and only mpirun could be stopped: such faults are refused.

#pragma once

#include "trainwire/lab/conduct.h"
#include "trainwire/network/fault_course.h"
#include "trainwire/programs/tail.h"
#include "trainwire/record/run.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/summarise/jobs.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::programs {

/// On the machine's clock (since 1970), as marks are.
using network::PlayedFault;

class FaultPlayer {
 public:
  /// Of the experiment as it is run. The request's launches know their folder. Throws SpecError for
  /// faults that cannot be played.
  FaultPlayer(const spec::Experiment& experiment, const lab::ConductRequest& request);

  /// Begins and ends what is due. Throws SystemError.
  void look(lab::RankGroup& ranks, testbed::Cluster& cluster);
  /// Whether that process was killed from here.
  bool killed(std::size_t process) const;
  std::vector<PlayedFault> played() const { return course_.played(); }

 private:
  struct Planned {
    std::size_t process = 0;  ///< its rank's, among the commands
    /// Of those whose step is waited for: its rank's, or all of the job.
    std::vector<Tail> marks = {};
    std::vector<std::int64_t> steps = {};  ///< that each has marked
  };
  void read_marks(std::int64_t now_ns);
  bool has_step_come(std::size_t i) const;

  network::FaultCourse course_;
  std::vector<Planned> planned_;  ///< by fault
  std::optional<std::int64_t> started_ns_ = {};
  std::int64_t looked_ns_ = 0;
};

/// With what they cost each job's marked steps, times from the run's start.
std::vector<record::Fault> described(std::span<const PlayedFault> faults, std::int64_t started_ns,
                                     std::span<const summarise::KnownJob> jobs);

/// Whether all that was asked for was played. REQUIRES: there are faults.
record::Check fault_check(std::span<const PlayedFault> faults);

}  // namespace tw::programs
