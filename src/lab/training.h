// SPDX-License-Identifier: Apache-2.0
// A job of an experiment as tasks for its ranks.

#pragma once

#include "trainwire/lab/launch.h"
#include "trainwire/recover/job_talk.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/trainer/task.h"

#include <span>
#include <string>
#include <vector>

namespace tw::lab {

struct TrainingJob {
  std::string name;
  std::string transport;        ///< that the experiment names; a preset's is replaced by tcp
  std::string carrier = {};     ///< the program that carries its gradients; empty: our own sockets
  std::vector<int> hosts = {};  ///< of each rank
  std::vector<std::string> host_names = {};
  std::vector<trainer::Task> tasks = {};  ///< of each rank
  recover::Policy policy = {};            ///< when a rank is lost

  /// As it is run: with payloads divided by the scale.
  const workload::Training& training() const { return tasks.front().training; }
  /// "rank 2 on host1", with the job's name when there are several.
  std::string label(std::size_t rank) const;
  bool named = false;
};

/// Where a host listens, and what it is called.
struct HostAddress {
  std::string name;
  std::string address;
};

/// Of the experiment as it is run: spec::scaled. Throws SpecError for what cannot be run: torch, a
/// transport that was not built, a strategy that cannot be laid out.
std::vector<TrainingJob> training_jobs(const spec::Experiment& experiment,
                                       std::span<const HostAddress> hosts,
                                       const std::string& folder);

/// What a rank's files are called: by the job's number, since its name is free text.
std::string file_name(std::size_t job, std::size_t rank);

/// Has every rank write down what it moves, into the folder.
void log_transfers(std::vector<TrainingJob>& jobs, const std::string& folder);

}  // namespace tw::lab
