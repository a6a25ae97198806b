// SPDX-License-Identifier: Apache-2.0
// The commands of the program: one file each, one line each in commands.cc.
//
// Data goes to stdout, everything else to stderr. A command returns its exit code (0 done, 1 a
// stated expectation failed) or throws one of base/error.h's families, which run() maps to 2, 3, 4
// or 70.

#pragma once

#include "trainwire/cli/command_line.h"

#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace tw::cli {

/// Where a command writes, so that tests can read it.
struct Streams {
  std::ostream& out;
  std::ostream& err;
  /// The command line without the program's name, for a run's provenance; set by run().
  std::span<const std::string> arguments = {};
};

/// The body of a command, run after its options were read.
using Body = std::function<int(Streams)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  /// Declares the options on `app` and returns the body, which reads them when it is called.
  Body (*declare)(CommandLine& app);
};

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

/// Runs one command line (without the program's name) and returns the exit code; never throws.
int run(std::span<const std::string> arguments, Streams streams);

}  // namespace tw::cli
