// SPDX-License-Identifier: Apache-2.0
// A grid of runs, whoever conducts one: a record and one table over all points.
//
// A point that is finished is not conducted again: the same sweep goes on where it was interrupted.
// A point that fails, or that the machine refuses, does not end it; why stands beside the others'
// figures. What is wrong with the machine or the files is wrong for all points, and ends the sweep.
//
// Points of one repetition do not depend on one another. An engine that measures conducts them in
// turn, in this thread; one that computes may have them conducted on all processors. The result is
// the same, in the same order.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/sweep/points.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::sweep {

/// What stands as the problem of a point that was cut off.
inline constexpr const char* kInterrupted = "interrupted";

/// What came of a point.
struct Attempt {
  record::Run run = {};
  std::optional<std::string> failure = {};  ///< what ended it early
  bool interrupted = false;
};

/// Who conducts points.
struct Engine {
  std::string command;  ///< run, sim
  /// What all points have as the record's engine, and so the sweep; nothing: each has its own.
  std::optional<std::string> name = {};
  /// One point. Where points keep their folders, it fills and finishes that one, judged before.
  /// Throws Error for a point that cannot be conducted; SystemError and SpecError end the sweep.
  std::function<Attempt(std::size_t point, const std::string& folder)> attempt;
  /// Where points are conducted elsewhere, all at once: begins and awaits them. `attempt` then says
  /// what came of each, and conducts it once more when it is asked again. May be empty.
  std::function<void(const std::vector<std::size_t>& points)> spread = {};
  bool keeps_folders = true;       ///< false: the sweep's record alone has the points
  bool on_all_processors = false;  ///< `attempt` and judges are called by several threads
};

struct Request {
  const spec::Experiment& experiment;
  const std::vector<Planned>& points;
  const std::vector<spec::Experiment>& experiments;  ///< of each point
  bool again = false;                                ///< conducts points anew that are finished
  int retries = 0;  ///< of a point that fails, or a check of which fails; of finished ones too
  record::Maker provenance;
};

/// How far a sweep is.
struct Progress {
  std::size_t point = 0;    ///< that begins now
  std::size_t done = 0;     ///< points behind
  std::size_t run_now = 0;  ///< of those behind: conducted now, not taken as finished
};

/// Everything in it may be empty.
struct Observer {
  std::function<void(const Progress&)> begin = {};  ///< before a point; by one thread at a time
  /// What the whole record of a point that was finished before is to be judged by.
  std::function<void(std::size_t point, record::Run&)> judge = {};
  /// Each time that a point failed or is not to be relied on; by one thread at a time.
  std::function<void(std::size_t point, const std::string& why)> failed = {};
};

struct Swept {
  record::Run run = {};  ///< of the sweep, with those of its points that were reached
  bool interrupted = false;
  bool is_whole() const;  ///< all its points are
};

/// Which checks failed, and what they say; nothing when all is well.
std::optional<std::string> problem_of(const record::Run& run);

/// The sweep that is in the folder, when nothing of this one is missing there; judged anew.
/// REQUIRES: its points keep their folders.
std::optional<Swept> finished_sweep(const Request& request, const std::string& folder,
                                    const Observer& observer);

/// Fills and finishes the folder. Throws Error.
Swept conduct(const Request& request, const Engine& engine, record::RunFolder& folder,
              const Observer& observer = {});

}  // namespace tw::sweep
