// SPDX-License-Identifier: Apache-2.0
// Jobs made by hand in tests.

#pragma once

#include "trainwire/lab/training.h"

namespace tw::lab {

/// A ring of two ranks that exchanges 4000 bytes, twice.
inline TrainingJob job_of_two() {
  TrainingJob job;
  job.name = "job0";
  job.hosts = {0, 1};
  job.host_names = {"host0", "host1"};
  trainer::Task task;
  task.training.strategy = "ring";
  task.training.arrangement.layout = {.hosts = 2, .host_of = {0, 1}};
  task.training.buckets = {{.elements = 1000}};
  task.training.steps = 2;
  task.training.broadcast = false;
  job.tasks = {task, task};
  return job;
}

}  // namespace tw::lab
