// SPDX-License-Identifier: Apache-2.0
// The scripts are written from the declared commands and options, so that they cannot fall behind
// them.
#include "trainwire/cli/app.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace tw::cli {
namespace {

/// "--json --set -h --help": every spelling of every option of a command.
std::string option_words(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += fmt::format("--{} ", name);
    for (const std::string& name : option->get_snames()) words += fmt::format("-{} ", name);
  }
  if (!words.empty()) words.pop_back();
  return words;
}

std::string bash_script(const CLI::App& app) {
  std::string cases;
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += command->get_name() + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), option_words(*command));
  }
  return fmt::format(R"(# bash completion for trainwire: source <(trainwire completion bash)
_trainwire() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "{}{}" -- "$current")
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}}
complete -o filenames -F _trainwire trainwire
)",
                     names, option_words(app), cases);
}

std::string zsh_script(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += fmt::format("    '{}:{}'\n", command->get_name(), command->get_description());
    cases += fmt::format("    {}) options=({}) ;;\n", command->get_name(), option_words(*command));
  }
  return fmt::format(R"(#compdef trainwire
# zsh completion for trainwire: source <(trainwire completion zsh)
_trainwire() {{
  local -a names options
  names=(
{}  )
  if ((CURRENT == 2)); then
    _describe command names
    compadd -- {}
    return
  fi
  case ${{words[2]}} in
{}  esac
  if [[ $PREFIX == -* ]]; then compadd -- $options; else _files; fi
}}
compdef _trainwire trainwire
)",
                     names, option_words(app), cases);
}

}  // namespace

Body declare_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh"}));
  return [shell](Streams streams) {
    const Application application;
    fmt::print(streams.out, "{}",
               *shell == "bash" ? bash_script(application.app) : zsh_script(application.app));
    return 0;
  };
}

}  // namespace tw::cli
