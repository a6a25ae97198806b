// SPDX-License-Identifier: Apache-2.0
// The part of `analyze` that is not packets: files of other programs, alone or beside captures.

#pragma once

#include "trainwire/imports/step_log.h"
#include "trainwire/operations/imported.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::readers {

/// What was given, sorted by what it is.
struct Given {
  std::vector<std::string> captures = {};
  std::vector<operations::Told> told = {};  ///< of the others; empty where there are only captures
};

/// Throws DataError when no file is of a kind that is read, or none of them tells anything.
Given given_files(const std::vector<std::string>& paths);

/// Whether one of them tells of a job.
bool tell_something(const std::vector<operations::Told>& told);

/// Captures without a packet beside files that tell something: they are named, with the reason.
void add_empty_captures(const std::vector<std::string>& captures,
                        std::vector<operations::Told>& told);

/// Steps with times of the files that tell most of them, as a log for the packets; nothing without any.
std::optional<imports::StepLog> steps_for_packets(const std::vector<operations::Told>& told);

/// Captures as sources, before the others.
void add_capture_sources(record::Run& run);

}  // namespace tw::readers
