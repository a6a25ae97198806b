// SPDX-License-Identifier: Apache-2.0
// What jobs whose ranks really trained have learnt: from what ranks tell to the record.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/trainer/learnt.h"
#include "trainwire/workload/training.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::lessons {

/// A job, and what each of its ranks told.
struct JobLessons {
  std::string name;
  workload::Training training;
  std::vector<std::optional<trainer::Learnt>> ranks = {};
};

/// Nothing where the job does not train, or no rank told anything.
std::optional<record::Learning> learning_of(const JobLessons& job);

/// Its points, into the table accuracy.
void write_accuracy(const record::Job& job, record::RunFolder& folder);

/// Ranks that wait for one another hold the same model in the end; nothing where no job is like that.
std::optional<record::Check> models_check(std::span<const JobLessons> jobs);

/// Real training keeps processors busy, which the check of the machine takes for a flaw: where any job
/// trains, it becomes a caution that says so.
void allow_computing(std::span<const JobLessons> jobs, std::vector<record::Check>& checks);

/// Throws SystemError when what a job is to learn from is not there.
void require_data(const std::string& job, const workload::Training& training);

}  // namespace tw::lessons
