// SPDX-License-Identifier: Apache-2.0
// What the commands that put ranks on a network have in common: where ranks run, where results go,
// and what is shown of a rank that failed.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/command_line.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/lab/conduct.h"
#include "trainwire/lab/place.h"
#include "trainwire/record/run_folder.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::command {

/// Where ranks run, as the command line has it.
struct PlaceOptions {
  std::string on = "emulated";
  std::string launch = "local";
  std::string interface;
  int port = 0;
  bool shape = false;
  bool no_check = false;
  bool accept_network = false;
  bool quiet = false;

  lab::RunPlace place() const;
};
/// Hosts that are machines: --launch, --interface, --port, --shape.
void add_launch(CommandLine& app, PlaceOptions& options);
void add_place(CommandLine& app, PlaceOptions& options);

/// NAME.run, here; with a number when that is there already and `force` does not replace it.
std::string run_folder_named(const std::string& name, bool force);
/// The experiment's name with .run, here; with a number when that is there already and `force` does
/// not replace it.
std::string default_folder(const ExperimentFile& experiment, bool force);

/// What made a run: this command line, of these files; "" is none.
record::Maker provenance_of(std::string_view command, std::span<const std::string> inputs,
                            Streams streams);
/// The same, of this experiment.
record::Maker provenance_of(std::string_view command, const ExperimentFile& experiment,
                            Streams streams);

/// Takes `path`, or the default folder when it is empty.
record::RunFolder take_folder(std::string_view command, const ExperimentFile& experiment,
                              const std::string& path, bool force, Streams streams);

/// `code`, or kRunFailed, with a line that says so, when a check failed and nobody wants to go on
/// all the same.
int checks_code(const std::vector<record::Check>& checks, bool keeps_going, int code,
                Streams streams);

/// The last lines of the rank that failed.
void show_failure(const lab::ConductOutcome& outcome, Streams streams);

}  // namespace tw::command
