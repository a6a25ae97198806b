// SPDX-License-Identifier: Apache-2.0
// The experiment that a command works on: its file, its --set overrides, read against what exists.

#pragma once

#include "trainwire/command/command_line.h"
#include "trainwire/sketch/sketch.h"
#include "trainwire/spec/experiment.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::command {

/// Options shared by all commands that take an experiment.
struct ExperimentFile {
  std::string path;
  std::vector<std::string> overrides;
  std::optional<sketch::Text> text = {};    ///< made from flags, in place of the file
  std::optional<std::string> content = {};  ///< what is in the file, once it was read

  bool is_file() const { return !text && path != "-"; }
};

/// Adds FILE and --set to a command; the values are there once the command line was parsed.
std::shared_ptr<ExperimentFile> add_experiment_file(
    CommandLine& app, const std::string& what = "experiment file (TOML), or - for standard input");

/// Adds --set alone.
void add_overrides(CommandLine& app, std::vector<std::string>& into);

/// Reads the file, which load() then does not do again: standard input can be read but once. Throws
/// SystemError.
void read(ExperimentFile& file);

/// Reads and resolves it ("-" is standard input). Throws SystemError when it cannot be read,
/// SpecError with all problems when it is wrong.
spec::Experiment load(const ExperimentFile& file);

/// Throws SpecError where the experiment asks for what only simulations do.
void refuse_simulated(const spec::Experiment& experiment, std::string_view command);
/// Throws SpecError where it has faults.
void refuse_faults(const spec::Experiment& experiment, std::string_view command);

/// Adds --expect to a command that takes no experiment.
void add_expect(CommandLine& app, std::string& path);

/// What the experiment at `path` expects, of whatever command; nothing when no path is given.
/// Throws as load() does.
std::vector<spec::Expectation> expectations_of(const std::string& path);

}  // namespace tw::command
