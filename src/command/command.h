// SPDX-License-Identifier: Apache-2.0
// What a command is: options declared on a command line, and a body that runs once they were read.
//
// Data goes to stdout, everything else to stderr. A body returns its exit code (exit_code.h) or
// throws one of base/error.h's families.

#pragma once

#include "trainwire/command/command_line.h"

#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace tw::command {

/// Where a command writes, so that tests can read it.
struct Streams {
  std::ostream& out;
  std::ostream& err;
  /// The command line without the program's name, for a run's provenance.
  std::span<const std::string> arguments = {};
};

/// The body of a command, run after its options were read.
using Body = std::function<int(Streams)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  /// Declares the options on `app` and returns the body, which reads them when it is called.
  Body (*declare)(CommandLine& app);
  /// Command lines to begin with, one a line; all of them can be parsed.
  std::string_view examples;
  /// What it prints is for programs (TOML, roff, a script), never fitted to a terminal.
  bool prints_data = false;
};

}  // namespace tw::command
