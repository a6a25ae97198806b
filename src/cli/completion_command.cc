// SPDX-License-Identifier: Apache-2.0
// The scripts are written from the declared commands and options, so that they cannot fall behind
// them.
//
// What can stand at a place is told by the word before it (an option that takes a value), or by how
// many arguments stand before it. Where no values are known, files are offered.
#include "trainwire/cli/commands.h"
#include "trainwire/command/app.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace tw::cli {
namespace {

using command::CommandText;
using command::OptionText;

bool is_argument(const OptionText& option) { return option.spellings.empty(); }
bool takes_value(const OptionText& option) {
  return !is_argument(option) && !option.hint.argument.empty();
}

/// "--json --set -h --help": every spelling of every option of a command.
std::string option_words(const CommandText& command) {
  std::vector<std::string> words;
  for (const OptionText& option : command.options) {
    words.insert(words.end(), option.spellings.begin(), option.spellings.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// "--set|-o|--out": those behind which a value stands, as a pattern of `case`.
std::string value_pattern(const CommandText& command) {
  std::vector<std::string> words;
  for (const OptionText& option : command.options) {
    if (takes_value(option)) {
      words.insert(words.end(), option.spellings.begin(), option.spellings.end());
    }
  }
  return words.empty() ? "--" : fmt::format("{}", fmt::join(words, "|"));
}

/// One line of `case "$name $place"` for each option or argument with values that are known.
std::string value_cases(const CommandText& command) {
  std::string cases;
  std::size_t position = 0;
  for (const OptionText& option : command.options) {
    std::vector<std::string> places = option.spellings;
    if (is_argument(option)) places.push_back(fmt::format("{}", position++));
    if (option.hint.values.empty() || places.empty()) continue;
    for (std::string& place : places) place = fmt::format("\"{} {}\"", command.name, place);
    cases += fmt::format("    {}) values=\"{}\" ;;\n", fmt::join(places, "|"),
                         fmt::join(option.hint.values, " "));
  }
  return cases;
}

/// The parts of both scripts that the commands decide.
struct Parts {
  std::string names;
  std::string options;   ///< a case by command
  std::string patterns;  ///< a case by command and word
  std::string values;    ///< a case by command and place
};

Parts parts_of(const command::Application& application) {
  Parts parts;
  for (const CommandText& command : application.commands()) {
    parts.names += command.name + " ";
    parts.options +=
        fmt::format("    {}) options=\"{}\" ;;\n", command.name, option_words(command));
    parts.patterns += fmt::format("      {}) case $word in {}) takes=$word ;; esac ;;\n",
                                  command.name, value_pattern(command));
    parts.values += value_cases(command);
  }
  return parts;
}

std::string bash_script(const command::Application& application) {
  const Parts parts = parts_of(application);
  return fmt::format(R"(# bash completion for trainwire: source <(trainwire completion bash)
_trainwire() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} name=${{COMP_WORDS[1]}} options= values= word= takes=
  local -i i place=0
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "{}{}" -- "$current")
    return
  fi
  # Which option awaits a value here, or how many arguments there are before.
  for ((i = 2; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    if [[ $word == = ]]; then i+=1; continue; fi  # bash takes KEY=VALUE for three words
    if [[ $takes ]]; then takes=; continue; fi
    if [[ $word == -* ]]; then
      case $name in
{}      esac
    else
      place+=1
    fi
  done
  case "$name ${{takes:-$place}}" in
{}  esac
  case $name in
{}  esac
  if [[ ! $takes && $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    if [[ ${{COMPREPLY[0]}} == *= ]]; then compopt -o nospace 2> /dev/null; fi
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -o filenames -F _trainwire trainwire
)",
                     parts.names, option_words(application.program()), parts.patterns, parts.values,
                     parts.options);
}

/// A text in single quotes.
std::string in_single_quotes(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result;
}

std::string zsh_script(const command::Application& application) {
  const Parts parts = parts_of(application);
  std::string names;
  for (const CommandText& command : application.commands()) {
    names += fmt::format("    '{}:{}'\n", command.name, in_single_quotes(command.summary));
  }
  return fmt::format(R"(#compdef trainwire
# zsh completion for trainwire: source <(trainwire completion zsh)
_trainwire() {{
  local -a names
  local name=${{words[2]}} options= values= word= takes=
  local -i i place=0
  names=(
{}  )
  if ((CURRENT == 2)); then
    _describe command names
    compadd -- {}
    return
  fi
  for ((i = 3; i < CURRENT; ++i)); do
    word=${{words[i]}}
    if [[ -n $takes ]]; then takes=; continue; fi
    if [[ $word == -* ]]; then
      case $name in
{}      esac
    else
      place+=1
    fi
  done
  case "$name ${{takes:-$place}}" in
{}  esac
  case $name in
{}  esac
  if [[ -z $takes && $PREFIX == -* ]]; then
    compadd -- ${{=options}}
  elif [[ $values == *= ]]; then
    compadd -S '' -- ${{=values}}
  elif [[ -n $values ]]; then
    compadd -- ${{=values}}
  else
    _files
  fi
}}
compdef _trainwire trainwire
)",
                     names, option_words(application.program()), parts.patterns, parts.values,
                     parts.options);
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
