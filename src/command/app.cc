// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/app.h"

#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/shipped.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::command {
namespace {

/// Those that begin with the words; all of them for none.
std::string examples_text(std::string_view examples, std::string_view words = {}) {
  std::string text = "Examples:";
  while (!examples.empty()) {
    const std::size_t end = std::min(examples.find('\n'), examples.size());
    if (examples.starts_with(words)) text += fmt::format("\n  {}", examples.substr(0, end));
    examples.remove_prefix(std::min(end + 1, examples.size()));
  }
  return text;
}

/// The option that names the command's action, and the name that was given; {nullptr, ""} where
/// there is none.
std::pair<const CLI::Option*, std::string> action_of(const CLI::App& app, const Hints& hints) {
  for (const CLI::Option* option : app.get_options()) {
    const auto hint = hints.find(option);
    if (hint == hints.end() || !hint->second.is_action || option->results().empty()) continue;
    const std::string& given = option->results().front();
    const auto& values = hint->second.values;
    if (std::find(values.begin(), values.end(), given) != values.end()) return {option, given};
  }
  return {nullptr, ""};
}

/// "Usage: trainwire net check [OPTIONS] FILE".
std::string usage_of(const CLI::App& app, const std::string& action) {
  std::string text = fmt::format("Usage: trainwire {} {} [OPTIONS]", app.get_name(), action);
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || option->get_group().empty()) continue;
    const std::string name = option->get_name(true);
    text += fmt::format(" {}", option->get_required() ? name : "[" + name + "]");
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
    sub->footer(examples_text(command.examples));
    CommandLine line(*sub, hints_);
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
    const std::string unknown = unknown_option(command);
    throw SpecError(fmt::format(
        "{}{} see `trainwire {}--help`", unknown.empty() ? error.what() : unknown,
        unknown.ends_with('?') ? "" : ";", command ? command->app->get_name() + " " : ""));
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

std::string Application::unknown_option(const Declared* command) const {
  const std::vector<std::string> words = app_->remaining(true);
  const auto word = std::find_if(words.begin(), words.end(),
                                 [](const std::string& w) { return w.starts_with("-"); });
  if (word == words.end() || *word == "--") return {};
  const CommandText text = text_of(command ? *command->app : *app_);
  std::vector<std::string_view> known;
  for (const OptionText& option : text.options) {
    known.insert(known.end(), option.spellings.begin(), option.spellings.end());
  }
  const std::string name = word->substr(0, word->find('='));
  const auto near = nearest(name, known);
  return fmt::format("there is no option \"{}\"{}", printable(name),
                     near ? fmt::format("; did you mean \"{}\"?", *near) : "");
}

void Application::narrow(const Declared& command, const std::string& action) const {
  for (CLI::Option* option : command.app->get_options()) {
    const auto found = hints_.find(option);
    if (found == hints_.end() || found->second.actions.empty()) continue;
    const auto& actions = found->second.actions;
    const auto here = std::find_if(actions.begin(), actions.end(),
                                   [&](const auto& entry) { return entry.first == action; });
    if (found->second.is_action) command.app->description(here->second);
    if (found->second.is_action || here == actions.end()) {
      option->group("");  // CLI11's word for hidden
    } else {
      option->description(here->second);
    }
  }
  const std::string words = fmt::format("trainwire {} {}", command.app->get_name(), action);
  command.app->footer(examples_text(command.examples, words));
}

std::string Application::help() const {
  const Declared* command = chosen();
  const auto given =
      command ? action_of(*command->app, hints_) : std::pair<const CLI::Option*, std::string>();
  if (given.first == nullptr) return app_->help();
  narrow(*command, given.second);
  // CLI11 writes hidden arguments into the usage, without their names.
  std::string help = app_->help();
  const std::size_t begin = help.find("Usage:");
  const std::size_t end = help.find('\n', begin);
  if (begin != help.npos && end != help.npos) {
    help.replace(begin, end - begin, usage_of(*command->app, given.second));
  }
  return help;
}

CommandText Application::text_of(const CLI::App& app) const {
  CommandText text{
      .name = app.get_name(), .summary = app.get_description(), .options = {}, .examples = {}};
  for (const CLI::Option* option : app.get_options()) {
    OptionText& added = text.options.emplace_back();
    added.names = option->get_name(false, true);
    added.help = option->get_description();
    for (const std::string& name : option->get_lnames()) added.spellings.push_back("--" + name);
    for (const std::string& name : option->get_snames()) added.spellings.push_back("-" + name);
    if (const auto hint = hints_.find(option); hint != hints_.end()) added.hint = hint->second;
  }
  return text;
}

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
