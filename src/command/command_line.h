// SPDX-License-Identifier: Apache-2.0
// What a command takes, declared without CLI11's headers: they are code of their own in every file
// that includes them, and only command_line.cc and app.cc have to.

#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tw::command {

/// One option or argument. REQUIRES: the command line it was added to lives.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// The word for its value in the help text; none for "".
  Option type_name(const std::string& name);
  Option required();
  Option one_of(std::initializer_list<const char*> values);
  /// Without `other` it means nothing, and is refused.
  Option needs(const Option& other);
  /// May be given several times, each time with one value.
  Option repeatable();

 private:
  CLI::Option* option_;
};

/// The options and arguments of one command. What they are read into must live until they were.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(&app) {}

  /// `names` as in "-o,--out"; without a dash it is an argument.
  Option add_option(const std::string& names, std::string& into, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& into,
                    const std::string& help);
  Option add_option(const std::string& names, int& into, const std::string& help);
  Option add_option(const std::string& names, std::optional<int>& into, const std::string& help);
  void add_flag(const std::string& names, bool& into, const std::string& help);

 private:
  CLI::App* app_;
};

}  // namespace tw::command
