// SPDX-License-Identifier: Apache-2.0
// Commands as a job array of Slurm: handed to sbatch, watched by squeue, taken back by scancel.
//
// sbatch gets a script with every command in it, quoted word for word, and each task of the array
// takes the one with its number. A task whose node dies is started again elsewhere where the site
// allows that. Jobs belong to Slurm: they outlive whoever has submitted them.
//
// Limits: 1,000 tasks, which every site allows (MaxArraySize 1001). What tasks write must lie where
// this machine sees it.

#pragma once

#include "trainwire/base/units.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::fleet {

inline constexpr std::size_t kMostTasks = 1000;

using Words = std::vector<std::string>;

/// What sbatch is to do.
struct ArrayOrder {
  std::string name;
  std::string script;  ///< its file
  std::string folder;  ///< what tasks print goes to task-N.txt in it
  int nodes = 1;       ///< of each task
  std::size_t tasks = 0;
};

/// REQUIRES: kMostTasks at most, none empty.
std::string array_script(const std::vector<Words>& tasks);
Words sbatch_words(const ArrayOrder& order);
/// SBATCH_PARTITION and so on, which srun calls SLURM_PARTITION, for those that are set there alone.
std::vector<std::string> sbatch_variables(
    const std::function<std::optional<std::string>(std::string_view)>& variables);
/// The number in what `sbatch --parsable` says: "12", "12;cluster". Nothing when it is none.
std::optional<std::string> job_number(std::string_view text);

/// What is left of an array in Slurm's queue.
struct ArrayState {
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::string reason = {};  ///< of one that waits, as Slurm says
  bool is_over() const { return running + waiting == 0; }
  /// It waits for what waiting does not bring: nodes that are down, a limit of the partition,
  /// somebody who holds it.
  bool is_hopeless() const;
  bool operator==(const ArrayState&) const = default;
};
/// Of squeue's lines "STATE|REASON".
ArrayState parse_queue(std::string_view text);

/// Submits. Returns the job's number. Throws Error with what sbatch said, SystemError.
std::string submit(const ArrayOrder& order);
/// Nothing when nobody answers; `why` is then what was said.
std::optional<ArrayState> state_of(const std::string& job, std::string& why);
void cancel(const std::string& job);

struct ArrayWait {
  Duration longest_silence = std::chrono::seconds(30);  ///< of Slurm
  Duration longest_hopeless = std::chrono::minutes(10);
  std::function<void(const ArrayState&)> tell = {};
  std::function<bool()> stop = {};
  /// Whether what the tasks were for is there: a Slurm that has lost its memory may want to do again
  /// what was done. Those that have not begun are then cancelled.
  std::function<bool()> have_all = {};
};
/// How waiting ended.
struct ArrayEnd {
  bool interrupted = false;
  std::optional<std::string> trouble = {};  ///< why it ended before the tasks had
};
/// Until no task is left. One that is stopped or hopeless is cancelled.
ArrayEnd wait_for(const std::string& job, const ArrayWait& how);

}  // namespace tw::fleet
