// SPDX-License-Identifier: Apache-2.0
// The command line as CLI11 knows it: built once per invocation, also walked by completion and man.

#pragma once

#include "trainwire/cli/command.h"

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

struct Application {
  Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// Of the command that was chosen on the command line; nothing before parsing or without one.
  const Body* body() const;
  std::string_view chosen() const;
  /// Of the chosen command, or of the program.
  std::string help() const;

  CLI::App app;

 private:
  struct Declared {
    CLI::App* app;
    Body body;
  };
  std::vector<Declared> declared_;
};

}  // namespace tw::cli
