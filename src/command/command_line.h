// SPDX-License-Identifier: Apache-2.0
// What a command takes, declared without CLI11's headers: they are code of their own in every file
// that includes them, and only command_line.cc and app.cc have to.

#pragma once

#include "trainwire/command/hints.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tw::command {

/// By option.
using Hints = std::map<const CLI::Option*, Hint>;

/// One option or argument. REQUIRES: the command line it was added to lives.
class Option {
 public:
  Option(CLI::Option& option, Hint& hint) : option_(&option), hint_(&hint) {}

  /// The word for its value in the help text; none for "".
  Option type_name(const std::string& name);
  Option required();
  Option one_of(std::initializer_list<const char*> values);
  /// Values to offer where one is typed; others are taken too.
  Option suggests(std::vector<std::string> values);
  /// It names an action of the command, which does this.
  Option action(const std::string& name, const std::string& does);
  /// It means something only to this action; `meaning` where it differs from that to others.
  Option of(const std::string& action, const std::string& meaning = "");
  /// Without `other` it means nothing, and is refused.
  Option needs(const Option& other);
  /// May be given several times, each time with one value.
  Option repeatable();

 private:
  CLI::Option* option_;
  Hint* hint_;
};

/// The options and arguments of one command. What they are read into must live until they were.
class CommandLine {
 public:
  /// REQUIRES: both outlive it.
  CommandLine(CLI::App& app, Hints& hints) : app_(&app), hints_(&hints) {}

  /// `names` as in "-o,--out"; without a dash it is an argument.
  Option add_option(const std::string& names, std::string& into, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& into,
                    const std::string& help);
  Option add_option(const std::string& names, int& into, const std::string& help);
  Option add_option(const std::string& names, std::optional<int>& into, const std::string& help);
  Option add_flag(const std::string& names, bool& into, const std::string& help);

 private:
  Option made(CLI::Option& option);

  CLI::App* app_;
  Hints* hints_;
};

}  // namespace tw::command
