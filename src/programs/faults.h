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

/// A fault as it went, on the machine's clock (since 1970), as marks are.
struct PlayedFault {
  spec::Fault fault = {};
  std::string where = {};                     ///< "host0", "rank 2 of job0"
  std::optional<std::int64_t> begin_ns = {};  ///< nothing when it did not
  std::optional<std::int64_t> end_ns = {};    ///< nothing when it lasted
};

class FaultPlayer {
 public:
  /// Of the experiment as it is run. The request's launches know their folder. Throws SpecError for
  /// faults that cannot be played.
  FaultPlayer(const spec::Experiment& experiment, const lab::ConductRequest& request);

  /// Begins and ends what is due. Throws SystemError.
  void look(lab::RankGroup& ranks, testbed::Cluster& cluster);
  /// Whether that process was killed from here.
  bool killed(std::size_t process) const;
  const std::vector<PlayedFault>& played() const { return played_; }

 private:
  struct Planned {
    std::size_t process = 0;  ///< its rank's, among the commands
    std::vector<Tail> marks =
        {};  ///< of those whose step is waited for: its rank's, or all of the job
    std::vector<std::int64_t> steps = {};  ///< that each has marked
    std::vector<int> ports = {};
    bool is_down = false;                        ///< of a link that flaps, at present
    std::optional<std::int64_t> change_ns = {};  ///< when that changes
  };
  void read_marks(std::int64_t now_ns);
  bool is_due(std::size_t i, std::int64_t now_ns) const;
  bool goes_on(std::size_t i) const { return played_[i].begin_ns && !played_[i].end_ns; }
  void begin(std::size_t i, std::int64_t now_ns, lab::RankGroup& ranks, testbed::Cluster& cluster);
  void end(std::size_t i, std::int64_t now_ns, lab::RankGroup& ranks, testbed::Cluster& cluster);
  void flap(std::size_t i, std::int64_t now_ns, testbed::Cluster& cluster);
  void alter(const std::vector<int>& ports, testbed::Cluster& cluster) const;

  std::vector<BitRate> rates_;  ///< of the plan's ports
  std::vector<PlayedFault> played_;
  std::vector<Planned> planned_;
  std::optional<std::int64_t> started_ns_ = {};
  std::int64_t looked_ns_ = 0;
};

/// With what they cost each job's marked steps, times from the run's start.
std::vector<record::Fault> described(std::span<const PlayedFault> faults, std::int64_t started_ns,
                                     std::span<const summarise::KnownJob> jobs);

/// Whether all that was asked for was played. REQUIRES: there are faults.
record::Check fault_check(std::span<const PlayedFault> faults);

}  // namespace tw::programs
