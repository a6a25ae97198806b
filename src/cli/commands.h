// SPDX-License-Identifier: Apache-2.0
// The commands of the program: one file each, one line each in commands.cc.

#pragma once

#include "trainwire/cli/command.h"

#include <span>
#include <string>

namespace tw::cli {

/// In the order in which help lists them.
std::span<const Command> commands();

Body declare_analyze(CommandLine& app);
Body declare_bench(CommandLine& app);
Body declare_cleanup(CommandLine& app);
Body declare_compare(CommandLine& app);
Body declare_doctor(CommandLine& app);
Body declare_exec(CommandLine& app);
Body declare_fit(CommandLine& app);
Body declare_info(CommandLine& app);
Body declare_net(CommandLine& app);
Body declare_run(CommandLine& app);
Body declare_plan(CommandLine& app);
Body declare_report(CommandLine& app);
Body declare_serve(CommandLine& app);
Body declare_export(CommandLine& app);
Body declare_show(CommandLine& app);
Body declare_models(CommandLine& app);
Body declare_strategies(CommandLine& app);
Body declare_traffic(CommandLine& app);
Body declare_schema(CommandLine& app);
Body declare_completion(CommandLine& app);
Body declare_man(CommandLine& app);

/// Runs one command line (without the program's name) and returns the exit code; never throws:
/// what a body throws becomes 2, 3, 4 or 70.
int run(std::span<const std::string> arguments, Streams streams);

}  // namespace tw::cli
