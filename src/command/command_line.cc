// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/command_line.h"

#include <CLI/CLI.hpp>

namespace tw::command {

Option Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::one_of(std::initializer_list<const char*> values) {
  option_->check(CLI::IsMember(std::vector<std::string>(values.begin(), values.end())));
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

Option CommandLine::add_option(const std::string& names, std::string& into,
                               const std::string& help) {
  return Option(*app_->add_option(names, into, help));
}

Option CommandLine::add_option(const std::string& names, std::vector<std::string>& into,
                               const std::string& help) {
  return Option(*app_->add_option(names, into, help));
}

Option CommandLine::add_option(const std::string& names, int& into, const std::string& help) {
  return Option(*app_->add_option(names, into, help));
}

Option CommandLine::add_option(const std::string& names, std::optional<int>& into,
                               const std::string& help) {
  return Option(*app_->add_option(names, into, help));
}

void CommandLine::add_flag(const std::string& names, bool& into, const std::string& help) {
  app_->add_flag(names, into, help);
}

}  // namespace tw::command
