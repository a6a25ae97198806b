// SPDX-License-Identifier: Apache-2.0
// What the commands that put ranks on a network have in common: where their results go, and what
// these say of network, captures and machine.

#pragma once

#include "trainwire/cli/capture_view.h"
#include "trainwire/cli/command.h"
#include "trainwire/cli/exec_checks.h"
#include "trainwire/cli/exit_code.h"
#include "trainwire/cli/experiment_file.h"
#include "trainwire/lab/conduct.h"
#include "trainwire/result/run_folder.h"
#include "trainwire/transport/tcp/address.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

/// The experiment's name with .run, here; with a number when that is there already and `force` does
/// not replace it.
std::string default_folder(const ExperimentFile& experiment, bool force);

/// Takes `path`, or the default folder when it is empty.
result::RunFolder take_folder(std::string_view command, const ExperimentFile& experiment,
                              const std::string& path, bool force, Streams streams);

/// The captures of a run, analysed; empty when there are none. Flows from and to `sinks` are cross
/// traffic.
CaptureResult analyse(const lab::ConductOutcome& outcome, const network::NetPlan& plan,
                      const std::optional<imports::StepLog>& log,
                      std::span<const transport::tcp::Endpoint> sinks = {});

/// Tables of captures, links, samples and load.
void write_lab_tables(const CaptureResult& result, const lab::ConductOutcome& outcome,
                      const network::NetPlan& plan, result::RunFolder& folder);

/// `command` is the one that prints it.
nlohmann::ordered_json lab_document(std::string_view command, const CaptureResult& result,
                                    const lab::ConductOutcome& outcome,
                                    const lab::ConductRequest& request,
                                    const std::vector<RunCheck>& checks);

/// The last lines of the rank that failed.
void show_failure(const lab::ConductOutcome& outcome, Streams streams);
void remove_captures(const lab::ConductOutcome& outcome);

}  // namespace tw::cli
