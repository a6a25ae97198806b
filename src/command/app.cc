// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/app.h"

#include "trainwire/base/error.h"
#include "trainwire/base/shipped.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace tw::command {
namespace {

CommandText text_of(const CLI::App& app) {
  CommandText text{
      .name = app.get_name(), .summary = app.get_description(), .options = {}, .examples = {}};
  for (const CLI::Option* option : app.get_options()) {
    OptionText& added = text.options.emplace_back();
    added.names = option->get_name(false, true);
    added.help = option->get_description();
    for (const std::string& name : option->get_lnames()) added.spellings.push_back("--" + name);
    for (const std::string& name : option->get_snames()) added.spellings.push_back("-" + name);
  }
  return text;
}

std::string examples_of(const Command& command) {
  std::string text = "Examples:";
  std::string_view rest = command.examples;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += fmt::format("\n  {}", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

}  // namespace

Application::Application(std::span<const Command> commands)
    : app_(std::make_unique<CLI::App>(
          "Training, on the wire: what a training job does to the network, and the network to it.",
          "trainwire")) {
  app_->set_version_flag("--version", "", "print the version and the commit");
  app_->set_help_flag("-h,--help", "print this help");
  app_->require_subcommand(0, 1);
  app_->footer("`trainwire COMMAND --help` explains a command. Start with: trainwire plan " +
               shipped("examples/quickstart/experiment.toml"));
  for (const Command& command : commands) {
    CLI::App* sub = app_->add_subcommand(std::string(command.name), std::string(command.summary));
    sub->set_help_flag("-h,--help", "print this help");
    sub->footer(examples_of(command));
    CommandLine line(*sub);
    declared_.push_back({.app = sub, .body = command.declare(line), .examples = command.examples});
  }
}

Application::~Application() = default;

Application::Parsed Application::parse(std::span<const std::string> arguments) {
  // CLI11 takes the words in reverse.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Parsed::Help;
  } catch (const CLI::CallForVersion&) {
    return Parsed::Version;
  } catch (const CLI::ParseError& error) {
    const Declared* command = chosen();
    throw SpecError(fmt::format("{}; see `trainwire {}--help`", error.what(),
                                command ? command->app->get_name() + " " : ""));
  }
  return chosen() ? Parsed::Command : Parsed::Nothing;
}

const Application::Declared* Application::chosen() const {
  for (const Declared& command : declared_) {
    if (command.app->parsed()) return &command;
  }
  return nullptr;
}

const Body* Application::body() const {
  const Declared* command = chosen();
  return command ? &command->body : nullptr;
}

std::string Application::help() const { return app_->help(); }

CommandText Application::program() const { return text_of(*app_); }

std::vector<CommandText> Application::commands() const {
  std::vector<CommandText> texts;
  for (const Declared& command : declared_) {
    texts.push_back(text_of(*command.app));
    texts.back().examples = std::string(command.examples);
  }
  return texts;
}

}  // namespace tw::command
