// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/app.h"

namespace tw::cli {

Application::Application()
    : app("Training, on the wire: what a training job does to the network, and the network to it.",
          "trainwire") {
  app.set_version_flag("--version", "", "print the version and the commit");
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(0, 1);
  app.footer(
      "`trainwire COMMAND --help` explains a command. Start with: trainwire plan "
      "examples/quickstart/experiment.toml");
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->set_help_flag("-h,--help", "print this help");
    sub->footer("");
    declared_.push_back({.app = sub, .body = command.declare(*sub)});
  }
}

const Body* Application::body() const {
  for (const Declared& command : declared_) {
    if (command.app->parsed()) return &command.body;
  }
  return nullptr;
}

std::string_view Application::chosen() const {
  for (const Declared& command : declared_) {
    if (command.app->parsed()) return command.app->get_name();
  }
  return {};
}

std::string Application::help() const { return app.help(); }

}  // namespace tw::cli
