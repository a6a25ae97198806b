// SPDX-License-Identifier: Apache-2.0
// The commands of the program: one file each, one line each in commands.cc.

#pragma once

#include "trainwire/command/command.h"

#include <span>
#include <string>

namespace tw::cli {

/// In the order in which help lists them.
std::span<const command::Command> commands();

command::Body declare_analyze(command::CommandLine& app);
command::Body declare_bench(command::CommandLine& app);
command::Body declare_cleanup(command::CommandLine& app);
command::Body declare_compare(command::CommandLine& app);
command::Body declare_exec(command::CommandLine& app);
command::Body declare_fit(command::CommandLine& app);
command::Body declare_info(command::CommandLine& app);
command::Body declare_net(command::CommandLine& app);
command::Body declare_run(command::CommandLine& app);
command::Body declare_plan(command::CommandLine& app);
command::Body declare_sim(command::CommandLine& app);
command::Body declare_report(command::CommandLine& app);
command::Body declare_serve(command::CommandLine& app);
command::Body declare_export(command::CommandLine& app);
command::Body declare_traffic(command::CommandLine& app);
command::Body declare_completion(command::CommandLine& app);
command::Body declare_man(command::CommandLine& app);

/// Writes the page of a run into its folder and, where it `tells`, where it is. A page that cannot be
/// made is told of and no failure: the run is there.
void leave_page(const std::string& folder, bool tells, command::Streams streams);
/// Adds --no-page.
void add_no_page(command::CommandLine& app, bool& into);

/// Runs one command line (without the program's name) and returns the exit code; never throws:
/// what a body throws becomes 2, 3, 4 or 70.
int run(std::span<const std::string> arguments, command::Streams streams);

}  // namespace tw::cli
