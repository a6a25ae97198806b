// SPDX-License-Identifier: Apache-2.0
// The whole command line: built once per invocation, also walked by completion and man.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/hints.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::command {

/// An option as the help shows it.
struct OptionText {
  /// "-o,--out".
  std::string names;
  /// "--out", "-o": what can be typed; nothing for an argument.
  std::vector<std::string> spellings;
  std::string help;
  Hint hint;
};

struct CommandText {
  std::string name;
  std::string summary;
  std::vector<OptionText> options;
  std::string examples;  ///< one a line
};

class Application {
 public:
  /// REQUIRES: the commands live as long.
  explicit Application(std::span<const Command> commands);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  enum class Parsed { Command, Nothing, Help, Version };
  /// Throws SpecError with a message that names the command's help.
  Parsed parse(std::span<const std::string> arguments);

  /// Of the command that was chosen on the command line; nothing before parsing or without one.
  const Body* body() const;
  /// Of the chosen command, or of its action where one was named, or of the program.
  std::string help() const;

  /// The program's own options, under its own name.
  CommandText program() const;
  std::vector<CommandText> commands() const;

 private:
  struct Declared {
    CLI::App* app;
    Body body;
    std::string_view examples;
  };
  const Declared* chosen() const;
  CommandText text_of(const CLI::App& app) const;
  /// Leaves in the command's help what is about that action.
  void narrow(const Declared& command, const std::string& action) const;
  /// What is wrong with the words that nothing took; "" where it is not known.
  std::string unknown_option(const Declared* command) const;

  std::unique_ptr<CLI::App> app_;
  Hints hints_;
  std::vector<Declared> declared_;
};

}  // namespace tw::command
