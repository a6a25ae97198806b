// SPDX-License-Identifier: Apache-2.0
// The scripts are written from the declared commands and options, so that they cannot fall behind
// them.
#include "trainwire/cli/commands.h"
#include "trainwire/command/app.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace tw::cli {
namespace {

/// "--json --set -h --help": every spelling of every option of a command.
std::string option_words(const command::CommandText& command) {
  std::vector<std::string> words;
  for (const command::OptionText& option : command.options) {
    words.insert(words.end(), option.spellings.begin(), option.spellings.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash_script(const command::Application& application) {
  std::string cases;
  std::string names;
  for (const command::CommandText& command : application.commands()) {
    names += command.name + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, option_words(command));
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
                     names, option_words(application.program()), cases);
}

std::string zsh_script(const command::Application& application) {
  std::string names;
  std::string cases;
  for (const command::CommandText& command : application.commands()) {
    names += fmt::format("    '{}:{}'\n", command.name, command.summary);
    cases += fmt::format("    {}) options=({}) ;;\n", command.name, option_words(command));
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
                     names, option_words(application.program()), cases);
}

}  // namespace

command::Body declare_completion(command::CommandLine& app) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash or zsh").required().type_name("").one_of({"bash", "zsh"});
  return [shell](command::Streams streams) {
    const command::Application application(commands());
    fmt::print(streams.out, "{}",
               *shell == "bash" ? bash_script(application) : zsh_script(application));
    return 0;
  };
}

}  // namespace tw::cli
