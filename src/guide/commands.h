// SPDX-License-Identifier: Apache-2.0
// Commands that help to begin and to understand, declared for the program's list (cli/commands.cc).

#pragma once

#include "trainwire/command/command.h"

namespace tw::guide {

command::Body declare_doctor(command::CommandLine& app);
command::Body declare_expect(command::CommandLine& app);
command::Body declare_explain(command::CommandLine& app);
command::Body declare_models(command::CommandLine& app);
command::Body declare_new(command::CommandLine& app);
command::Body declare_predict(command::CommandLine& app);
command::Body declare_schema(command::CommandLine& app);
command::Body declare_show(command::CommandLine& app);
command::Body declare_strategies(command::CommandLine& app);

}  // namespace tw::guide
