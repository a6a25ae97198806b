// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/command_line.h"

#include <CLI/CLI.hpp>

#include <utility>

namespace tw::command {

Option Option::type_name(const std::string& name) {
  option_->type_name(name);
  hint_->argument = name;
  return *this;
}

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::one_of(std::initializer_list<const char*> values) {
  hint_->values.assign(values.begin(), values.end());
  option_->check(CLI::IsMember(hint_->values));
  return *this;
}

Option Option::suggests(std::vector<std::string> values) {
  hint_->values = std::move(values);
  return *this;
}

Option Option::action(const std::string& name, const std::string& does) {
  hint_->is_action = true;
  hint_->actions.emplace_back(name, does);
  const std::string before = option_->get_description();
  option_->description(before + (before.empty() ? "" : "; ") + name + ": " + does);
  return *this;
}

Option Option::of(const std::string& action, const std::string& meaning) {
  const std::string help = option_->get_description();
  if (hint_->actions.empty()) hint_->help = help;
  hint_->actions.emplace_back(action, meaning.empty() ? hint_->help : meaning);
  // "for send, sink: what it means to both", "for send: this; for sink: that".
  std::string names;
  std::string description;
  for (std::size_t i = 0; i < hint_->actions.size(); ++i) {
    const auto& [name, means] = hint_->actions[i];
    names += (names.empty() ? "" : ", ") + name;
    if (i + 1 < hint_->actions.size() && hint_->actions[i + 1].second == means) continue;
    description += (description.empty() ? "for " : "; for ") + names + ": " + means;
    names.clear();
  }
  option_->description(description);
  return *this;
}

Option Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option Option::repeatable() {
  option_->expected(1)->take_all()->allow_extra_args(false);
  return *this;
}

Option CommandLine::made(CLI::Option& option) { return {option, (*hints_)[&option]}; }

Option CommandLine::add_option(const std::string& names, std::string& into,
                               const std::string& help) {
  return made(*app_->add_option(names, into, help));
}

Option CommandLine::add_option(const std::string& names, std::vector<std::string>& into,
                               const std::string& help) {
  return made(*app_->add_option(names, into, help));
}

Option CommandLine::add_option(const std::string& names, int& into, const std::string& help) {
  return made(*app_->add_option(names, into, help));
}

Option CommandLine::add_option(const std::string& names, std::optional<int>& into,
                               const std::string& help) {
  return made(*app_->add_option(names, into, help));
}

Option CommandLine::add_flag(const std::string& names, bool& into, const std::string& help) {
  return made(*app_->add_flag(names, into, help));
}

}  // namespace tw::command
