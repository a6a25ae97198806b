// SPDX-License-Identifier: Apache-2.0
// `trainwire reproduce`, declared for the program's list (cli/commands.cc).

#pragma once

#include "trainwire/command/command.h"

namespace tw::reproduce {

command::Body declare_reproduce(command::CommandLine& app);

}  // namespace tw::reproduce
