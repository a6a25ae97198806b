// SPDX-License-Identifier: Apache-2.0
// The flags from which `new` and `exec` make an experiment: one implementation, the same words.

#pragma once

#include "trainwire/command/command_line.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/sketch/sketch.h"

#include <memory>

namespace tw::command {

/// Adds the flags that mean something for the purpose; what they mean is told in the words of the
/// experiment's reference. Flags that were not given stay empty values.
std::shared_ptr<sketch::Sketch> add_sketch(CommandLine& app, sketch::For purpose);

/// Only what was given.
sketch::Sketch given(const sketch::Sketch& flags);

/// The experiment that the flags make, in place of a file; load() reads it and tells problems by
/// flag. `overrides` are those of --set. Throws SpecError.
ExperimentFile file_of(const sketch::Sketch& given, sketch::For purpose,
                       std::vector<std::string> overrides = {});

}  // namespace tw::command
